"""Pages that run: a system whose FMUs are WebAssembly modules, with its master, controls and plots in one file."""
