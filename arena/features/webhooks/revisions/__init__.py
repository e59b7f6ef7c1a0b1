"""The revisions of the tables of webhooks."""
