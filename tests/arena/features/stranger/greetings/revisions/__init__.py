"""The revisions of the table of greetings."""
