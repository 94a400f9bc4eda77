import { address } from '../duely.js'

/** @import { Bundle, Trigger, ZObject } from 'zapier-platform-core' */

/**
 * A trigger that Duely calls by webhook.
 * @param {{ key: string, event: string, noun: string, label: string, description: string, sample: Record<string, unknown>, outputFields: Field[] }} about
 * @typedef {{ key: string, label: string, type?: 'string' | 'number' | 'integer' | 'datetime' | 'boolean' }} Field
 */
export function hookTrigger({ key, event, noun, label, description, sample, outputFields }) {
  return /** @satisfies {Trigger} */ ({
    key,
    noun,
    display: { label, description },
    operation: {
      type: 'hook',
      /**
       * @param {ZObject} z
       * @param {Bundle} bundle
       */
      performSubscribe: async (z, bundle) => {
        const response = await z.request({ method: 'POST', url: `${address()}/zapier/hooks`, body: { hookUrl: bundle.targetUrl, event } })
        return response.data
      },
      /**
       * A webhook that no longer exists counts as removed.
       * @param {ZObject} z
       * @param {Bundle} bundle
       */
      performUnsubscribe: async (z, bundle) => {
        const id = encodeURIComponent(String(bundle.subscribeData?.id))
        const response = await z.request({ method: 'DELETE', url: `${address()}/zapier/hooks/${id}`, skipThrowForStatus: true })
        if (response.status !== 404) response.throwForStatus()
        return {}
      },
      /**
       * Test events sent from Duely's screen arrive here too and must not run a Zap.
       * @param {ZObject} _z
       * @param {Bundle} bundle
       */
      perform: (_z, bundle) => (bundle.cleanedRequest?.type === event ? [bundle.cleanedRequest] : []),
      /** @param {ZObject} z */
      performList: async (z) => {
        const response = await z.request(`${address()}/zapier/hooks/sample/${event}`)
        return response.data
      },
      sample,
      outputFields,
    },
  })
}
