"""What a family as a package of its own begins with; `arena rules new` copies it under another name."""
