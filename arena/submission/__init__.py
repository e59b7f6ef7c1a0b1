"""Submission of bots: receives, unpacks, reads, checks and stores uploaded bundles.

Uploads are untrusted: sizes are bounded while reading, only plain files are accepted, and nothing of a refused upload
remains.
"""
