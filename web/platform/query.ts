import { QueryClient, type UseMutationResult, type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Call, CallReply } from '#contract/call.ts'
import { Problem } from './problem.ts'
import { type SendArgument, type SendInput, sendUntil } from './send.ts'

/** Keeps what was read for a minute after the last screen that shows it has gone. */
export function openQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        gcTime: 60_000,
        staleTime: 5_000,
        // "Offline" is what the browser thinks; a server on this machine answers all the same.
        networkMode: 'always',
        // The library leaves this off for those.
        refetchOnReconnect: true,
        retry: (failures, error) => error instanceof Problem && (error.code === 'offline' || error.code === 'not_ready') && failures < 2,
        retryDelay: (failures) => 400 * 2 ** failures,
      },
      mutations: { networkMode: 'always' },
    },
  })
}

/** The key under which a call's answer is kept: `[method, path, input]`; without the input it names all of them. */
export function queryKey(call: Call, input?: object): readonly unknown[] {
  return input === undefined ? [call.method, call.path] : [call.method, call.path, input]
}

/**
 * Reads what a change made out of date, wherever it is shown. What is being read at this moment is asked for again too: its answer may be from
 * before the change. `input` picks one of the answers of a call.
 */
export async function readAnew(queries: QueryClient, reads: Call[], input?: object): Promise<void> {
  await Promise.all(
    reads.map(async (read) => {
      const which = { queryKey: queryKey(read, input) }
      // Without this the library would take the first answer for the new one.
      await queries.cancelQueries(which)
      await queries.invalidateQueries(which)
    }),
  )
}

/** A screen asks for several things at a time: each in a task of its own, so that none of them holds up what the person does. */
function ownTask(): Promise<void> {
  return new Promise((begun) => setTimeout(begun))
}

interface ReadOptions {
  /** False: wait with it. */
  enabled?: boolean
  /** Ask again every so many milliseconds; false: do not. */
  every?: number | false
  /** How long an answer counts as fresh, in milliseconds; 5,000 unless said otherwise. */
  fresh?: number
}

/** Reads a call and keeps its answer. Calls without input: `useRead(call)`. */
export function useRead<C extends Call>(
  call: C,
  ...[input, options]: [...SendArgument<C>, options?: ReadOptions]
): UseQueryResult<CallReply<C>> {
  const given = (input ?? {}) as SendInput<C> & object
  const { enabled = true, every = false, fresh } = (options ?? {}) as ReadOptions
  return useQuery<CallReply<C>>({
    queryKey: queryKey(call, given),
    queryFn: async ({ signal }) => {
      await ownTask()
      return sendUntil(call, given, signal)
    },
    enabled,
    refetchInterval: every,
    ...(fresh === undefined ? {} : { staleTime: fresh }),
  })
}

interface CallOptions<C extends Call> {
  /** The reads that this call makes out of date: asked again before the call counts as done. */
  refreshes?: Call[]
  onDone?: (reply: CallReply<C>, input: SendInput<C>) => void
  onProblem?: (error: Error, input: SendInput<C>) => void
}

/** A call that changes something: `useCall(invoiceCalls.remove, { refreshes: [invoiceCalls.list] })`, then `.mutate({ params: { id } })`. */
export function useCall<C extends Call>(
  call: C,
  { refreshes = [], onDone, onProblem }: CallOptions<C> = {},
): UseMutationResult<CallReply<C>, Error, SendInput<C>> {
  const queries = useQueryClient()
  return useMutation<CallReply<C>, Error, SendInput<C>>({
    mutationFn: (input) => sendUntil(call, input, null),
    onSuccess: async (reply, input) => {
      await readAnew(queries, refreshes)
      onDone?.(reply, input)
    },
    onError: (error, input) => onProblem?.(error, input),
  })
}
