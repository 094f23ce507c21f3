"""Where machines meet: a folder, a git remote, or a folder of another machine by ssh."""
