"""The page that shows the agent in a browser, and steers it."""
