import js from "@eslint/js";

// TypeScript checks names, and knows the types of a browser's too.
const unused = { argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" };

export default [
  { ignores: ["assets/vendor/**"] },
  js.configs.recommended,
  { rules: { "no-undef": "off", "no-unused-vars": ["error", unused], "no-control-regex": "off" } },
];
