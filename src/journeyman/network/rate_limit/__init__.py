"""Rate limiting: how fast a network is asked, and when it is left alone."""
