"""What a refusal says of the body it refuses: any style, read into the same findings.

The contract shows no errors. Whatever the style, a fault is a sentence about a place.
A structure (pydantic, zod, ajv, problem details, JSON:API, google.rpc, Rails, Laravel,
Django, ASP.NET) has the place in a field or a key beside the sentence, and a line of
text before it, as in `task.id: must be an integer`; how some frameworks write that
(fastify, Jackson, graphql-js) is rewritten so first. Else the names in the sentence
are the places. A few words tell what is wrong there. Where no word is understood, a
name that our body lacks is taken as missing, and a value that it has as wrong, wherever
they stand (decision 0113). Nothing here raises.

`refusal` reads a whole refusal. `structures` goes through its JSON and finds what
stands beside what (by `keys`), `sentences` finds the names in its sentences, `words`
what is said of them, and `unclear` reads what is left. `bounds` finds how large a
number has to be, and `position` where in our bytes a parser has stopped. `rpc` and
`firestore` know what GraphQL, JSON-RPC and Firestore prescribe. All of them tell it as
`faults`.
"""
