import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A key and its certificate, both PEM. A client that trusts `cert` trusts the server with `key`. */
export interface Certificate {
  key: string
  cert: string
}

/**
 * A self-signed certificate for `names` (DNS names and IPv4 addresses), generated on use, so that the repository contains no key and no certificate that expires.
 * X.509 v3 by hand (RFC 5280), ECDSA on P-256, valid from yesterday for `days` days; a negative number makes an expired one.
 */
export function makeCertificate(names: string[], days = 30): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const day = 24 * 60 * 60 * 1000
  const algorithm = sequence(oid('2a8648ce3d040302'))
  const issuer = sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(names[0] ?? 'nobody')))))
  const alternatives = sequence(
    ...names.map((name) => (/^[\d.]+$/.test(name) ? tagged(0x87, ipv4(name)) : tagged(0x82, Buffer.from(name)))),
  )
  const extensions = sequence(
    sequence(oid('551d11'), tagged(0x04, alternatives)),
    sequence(oid('551d13'), tagged(0x01, Buffer.from([0xff])), tagged(0x04, sequence(tagged(0x01, Buffer.from([0xff]))))),
  )
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer,
    sequence(time(Date.now() - (days < 0 ? 60 : 1) * day), time(Date.now() + days * day)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, extensions),
  )
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const der = sequence(body, algorithm, signature)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`,
  }
}

function tagged(tag: number, content: Buffer): Buffer {
  const size = content.length
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

function ipv4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** UTCTime: YYMMDDHHMMSSZ. */
function time(epochMilliseconds: number): Buffer {
  const digits = new Date(epochMilliseconds).toISOString().replace(/\D/g, '')
  return tagged(0x17, Buffer.from(`${digits.slice(2, 14)}Z`))
}
