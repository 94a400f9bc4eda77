import { QueryClient, type UseMutationResult, type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Call, CallReply } from '#contract/call.ts'
import { Problem } from './problem.ts'
import { mostWaits, type SendArgument, type SendInput, sendWithSignal, waitFor } from './send.ts'

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        gcTime: 60_000,
        staleTime: 5_000,
        // The browser may report "offline" while a server on the same machine still answers.
        networkMode: 'always',
        // Off by default in network mode "always".
        refetchOnReconnect: true,
        retry: (failures, error) =>
          error instanceof Problem &&
          (waitFor(error) !== null ? failures < mostWaits : (error.code === 'offline' || error.code === 'not_ready') && failures < 2),
        retryDelay: (failures, error) => waitFor(error) ?? 400 * 2 ** failures,
      },
      mutations: { networkMode: 'always' },
    },
  })
}

/** The key of a call's cached answer: `[method, path, input]`; without the input it names all of them. */
export function queryKey(call: Call, input?: object): readonly unknown[] {
  return input === undefined ? [call.method, call.path] : [call.method, call.path, input]
}

/**
 * Marks cached answers as out of date and refetches those on screen. `input` picks one of the answers of a call.
 * A fetch under way is cancelled first: the library would take its answer, which may be from before the change, for the new one.
 */
export async function invalidate(queries: QueryClient, calls: Call[], input?: object): Promise<void> {
  await Promise.all(
    calls.map(async (call) => {
      const filter = { queryKey: queryKey(call, input) }
      await queries.cancelQueries(filter)
      await queries.invalidateQueries(filter)
    }),
  )
}

/** The cached answers, for a mutation that writes its own answer into them. */
export interface ApiCache {
  /** Replaces every cached answer of a call; `input` picks one of them. Answers that are not cached stay so. */
  update: <C extends Call>(call: C, change: (answer: CallReply<C>) => CallReply<C>, input?: SendInput<C> & object) => void
  /** Writes one answer, cached before or not. Calls without input: `write(call, answer)`. */
  write: <C extends Call>(call: C, answer: CallReply<C>, ...[input]: SendArgument<C>) => void
}

function openCache(queries: QueryClient): ApiCache {
  return {
    update: (call, change, input) => {
      queries.setQueriesData<CallReply<typeof call>>({ queryKey: queryKey(call, input) }, (answer) =>
        answer === undefined ? undefined : change(answer),
      )
    },
    write: (call, answer, ...[input]) => {
      queries.setQueryData(queryKey(call, input ?? {}), answer)
    },
  }
}

/** What a mutation does to the cache. */
export interface CacheEffects<C extends Call> {
  /** The queries that it makes out of date. Without `update` it is done only when they have been refetched; with it they are refetched in the background. */
  invalidates?: Call[]
  /** Writes the answer into the cache, so that the screens show it without waiting for a refetch. */
  update?: (cache: ApiCache, reply: CallReply<C>, input: SendInput<C>) => void
}

/** Applies a mutation's answer to the cache. */
export async function applyToCache<C extends Call>(
  queries: QueryClient,
  { invalidates = [], update }: CacheEffects<C>,
  reply: CallReply<C>,
  input: SendInput<C>,
): Promise<void> {
  if (!update) return invalidate(queries, invalidates)
  // An answer from before the change must not arrive after the update and overwrite it.
  await Promise.all(invalidates.map((call) => queries.cancelQueries({ queryKey: queryKey(call) })))
  update(openCache(queries), reply, input)
  void invalidate(queries, invalidates)
}

/** Yields to the event loop: a screen begins several queries, and each gets a task of its own so that input is never blocked. */
function ownTask(): Promise<void> {
  return new Promise((begun) => setTimeout(begun))
}

interface QueryOptions {
  enabled?: boolean
  /** In milliseconds. */
  refetchInterval?: number | false
  /** In milliseconds; 5,000 by default. */
  staleTime?: number
}

/** Queries a call and caches its answer. Calls without input: `useApiQuery(call)`. */
export function useApiQuery<C extends Call>(
  call: C,
  ...[input, options]: [...SendArgument<C>, options?: QueryOptions]
): UseQueryResult<CallReply<C>> {
  const given = (input ?? {}) as SendInput<C> & object
  return useQuery<CallReply<C>>({
    queryKey: queryKey(call, given),
    queryFn: async ({ signal }) => {
      await ownTask()
      return sendWithSignal(call, given, signal)
    },
    ...options,
  })
}

interface MutationOptions<C extends Call> extends CacheEffects<C> {
  onSuccess?: (reply: CallReply<C>, input: SendInput<C>) => void
  onError?: (error: Error, input: SendInput<C>) => void
}

/** A call that changes something: `useApiMutation(invoiceCalls.remove, { invalidates: [invoiceCalls.list] })`, then `.mutate({ params: { id } })`. */
export function useApiMutation<C extends Call>(
  call: C,
  { onSuccess, onError, ...effects }: MutationOptions<C> = {},
): UseMutationResult<CallReply<C>, Error, SendInput<C>> {
  const queries = useQueryClient()
  return useMutation<CallReply<C>, Error, SendInput<C>>({
    mutationFn: (input) => sendWithSignal(call, input, null),
    onSuccess: async (reply, input) => {
      await applyToCache(queries, effects, reply, input)
      onSuccess?.(reply, input)
    },
    onError: (error, input) => onError?.(error, input),
  })
}
