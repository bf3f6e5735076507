"""Laws that users write: their text, dimensions, derivatives, checks, and C."""
