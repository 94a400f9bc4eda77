/** A sentence for whoever starts the program: it cannot run here, and what to do about it. */
export class StartError extends Error {}
