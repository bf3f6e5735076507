// The equation is that of the law of the recipe.
