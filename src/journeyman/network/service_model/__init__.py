"""What is known of a network: its requests, its answers, and from which evidence."""
