/** For the operator: why the program cannot start, and what to do. */
export class StartError extends Error {}
