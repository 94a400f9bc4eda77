/** Packages that are built into the client, or build it: the server runs without them, and so does its image. */
export const ofClient =
  /^(?:react|react-dom|react-router|vite|@e965\/xlsx|d3-.+|@(?:fontsource-variable|mantine|react-router|scalar|tabler|tanstack)\/.+)$/
