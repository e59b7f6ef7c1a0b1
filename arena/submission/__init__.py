"""The way of a bundle from an upload to an active version: received, unpacked, read, checked, stored."""
