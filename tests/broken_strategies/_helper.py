raise RuntimeError("a file that starts with _ is left out")
