// A self-signed certificate for 127.0.0.1, made on the spot: no key in the repository, no openssl on the PATH.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export type Certificate = { readonly key: string; readonly cert: string }

export function makeCertificate(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = toBeSigned(publicKey)
  const signature = sign('sha256', body, privateKey)
  const der = sequence(body, ECDSA_WITH_SHA256, tlv(0x03, Buffer.of(0), signature))
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

/** RFC 5280, 4.1: version 3, with the address as alternative name and as its own authority. */
function toBeSigned(publicKey: KeyObject): Buffer {
  const name = sequence(tlv(0x31, sequence(oid(0x55, 0x04, 0x03), tlv(0x0c, Buffer.from('rollcall test')))))
  const validity = sequence(tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('491231235959Z')))
  const addresses = sequence(tlv(0x87, Buffer.of(127, 0, 0, 1)))
  const alternative = sequence(oid(0x55, 0x1d, 0x11), tlv(0x04, addresses))
  const authority = sequence(oid(0x55, 0x1d, 0x13), tlv(0x04, sequence(tlv(0x01, Buffer.of(0xff)))))
  return sequence(
    tlv(0xa0, tlv(0x02, Buffer.of(2))),
    tlv(0x02, Buffer.of(1)),
    ECDSA_WITH_SHA256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(alternative, authority)),
  )
}

function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tlv(0x30, ...parts)
}

function oid(...bytes: readonly number[]): Buffer {
  return tlv(0x06, Buffer.of(...bytes))
}

const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
