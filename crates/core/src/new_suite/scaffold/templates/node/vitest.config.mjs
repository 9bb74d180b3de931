// Settings for the hidden tests alone: those in the workspace are the agent's.
export default { test: { globals: true, include: ['hidden/*.test.mjs'], watch: false } };
