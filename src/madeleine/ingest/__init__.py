"""Taking in what was said elsewhere: transcripts of the hosts, read from where we stopped."""
