"""What classes have in common: each function makes the plan of a call from a configuration and the pictures' sizes."""
