// No groups.
