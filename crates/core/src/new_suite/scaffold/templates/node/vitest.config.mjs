// Settings for the hidden tests alone: those in the workspace are the agent's. `test` and `expect` are globals.
export default { test: { globals: true, include: ['hidden/*.test.mjs'], watch: false } };
