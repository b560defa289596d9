// Keeps the page up to date, and sends its forms without loading it anew. Without this
// file everything can still be read, and every button works.
"use strict";

const RETRY_MILLISECONDS = 2000;
const waiting = new Map();

// -- what changes ---------------------------------------------------------------

// A link under the pointer stays where it is: a list that moved on would open another
// task than the one that was aimed at. (The keyboard's focus moves along, by its id.)
const IN_USE = ":is(input, select):focus, details[open] form, a:hover";

function isInUse(section) {
  return section.querySelector(IN_USE) !== null;
}

function replace(name, html) {
  const section = document.getElementById(name);
  if (section === null) return;
  if (isInUse(section)) {
    waiting.set(name, html);
    return;
  }
  waiting.delete(name);
  const focused = section.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...section.querySelectorAll("details[open]")].map((one) => one.id);
  const known = new Set([...section.querySelectorAll("[data-key]")].map((one) => one.dataset.key));
  section.innerHTML = html;
  for (const one of section.querySelectorAll("[data-key]")) {
    if (known.size > 0 && !known.has(one.dataset.key)) one.classList.add("new");
  }
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
}

function watch(address) {
  const stream = new EventSource(address);
  stream.onmessage = (message) => {
    const changes = { ...Object.fromEntries(waiting), ...JSON.parse(message.data) };
    for (const [name, html] of Object.entries(changes)) replace(name, html);
  };
  stream.onerror = () => {
    stream.close();
    document.getElementById("lost").hidden = false;
    setTimeout(comeBack, RETRY_MILLISECONDS);
  };
}

async function comeBack() {
  // A daemon that was started again has other sessions: the whole page is loaded.
  try {
    const answer = await fetch(location.href, { redirect: "manual" });
    if (answer.ok || answer.type === "opaqueredirect") return location.reload();
  } catch {
    // It is still away.
  }
  setTimeout(comeBack, RETRY_MILLISECONDS);
}

// -- what is commanded ----------------------------------------------------------

function say(text, isBad) {
  const said = document.getElementById("said");
  said.textContent = text;
  said.classList.toggle("bad", isBad);
  said.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => said.classList.remove("shown"), isBad ? 12000 : 5000);
}

async function send(form, submitter) {
  const fields = new URLSearchParams(new FormData(form, submitter));
  submitter.disabled = true;
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { accept: "application/json" },
      body: fields,
    });
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    const told = isJson ? await answer.json() : { problem: await answer.text() };
    if (answer.ok) {
      for (const one of document.querySelectorAll("details.menu[open]")) one.open = false;
      say(told.done, false);
    } else {
      say([told.problem, told.fix].filter(Boolean).join(" "), true);
    }
  } catch {
    say("The daemon did not answer. Nothing is known to have been done.", true);
  }
  submitter.disabled = false;
}

document.addEventListener("submit", (event) => {
  if ("plain" in event.target.dataset) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

// A menu closes when something else is pressed, and by Escape.
function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(except)) menu.open = false;
  }
}

document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = event.target.closest("details.menu[open]");
  closeMenus(null);
  menu?.querySelector("summary").focus();
});

if (document.body.dataset.live) watch(document.body.dataset.live);
