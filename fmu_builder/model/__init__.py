"""What a file declares: elements, recipes, assemblies, scenarios and the models made of them."""
