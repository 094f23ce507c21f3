"""What is thrown at everything that reads what others wrote. `make attack` runs all of it."""
