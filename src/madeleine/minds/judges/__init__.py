"""Who answers what memories are to each other: rules on this machine, or a language model."""
