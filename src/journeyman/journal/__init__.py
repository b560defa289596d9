"""The journal and the identity: everything that must survive a kill."""
