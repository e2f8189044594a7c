// Examples for the OpenAPI document. Nobody of these names is meant; addresses end in names that nobody can have.
import type { MessageWire, ProfessionalWire } from '../../service/chat-schema.ts'
import type { CreateWire, RetrievedWire, UpdateWire } from '../../service/schema.ts'

const FIELDS = {
  email: 'ana@correo.example',
  nid_number: '12345678Z',
  first_name: 'Ana',
  last_name: 'Ejemplo Muestra',
  gender: 1,
  birthdate: '1984-02-29',
  mobile_phone: '600000000',
  mobile_phone_prefix: '34',
  coverage_name: 'gold',
  contract_number: 'C-1042',
  service_language_code: 'es',
  ml_group_name: 'north',
  md_group_name: 'm1',
} as const

export const SMALLEST_USER: CreateWire = { user_id: 'customer-1042', status: 2 }
export const WHOLE_USER: CreateWire = {
  ...SMALLEST_USER,
  ...FIELDS,
  description: 'Called about a lease.',
  country_code: 'ES',
}
/** As in the document's sample of a full update: every field, `description` null, the country in lower case. */
export const WHOLE_UPDATE: UpdateWire = { status: 2, ...FIELDS, description: null, country_code: 'es' }
export const REVOCATION: UpdateWire = { status: 0 }
export const SHOWN_USER: RetrievedWire = {
  ...SMALLEST_USER,
  ...FIELDS,
  status: 2,
  mobile_phone: '34600000000',
  description: null,
}

const HEAD = { room_id: 7, from_user_id: 'professional-3', to_user_id: 'customer-1042' }
const TEXT_MESSAGE: MessageWire = {
  ...HEAD,
  message_id: '6f1f7a52-0c1e-4b5e-9a55-3d2f0c6f9b11',
  status: 'read',
  type: 'text',
  text: 'Good morning. Please send me the contract.',
  created_at: '2026-03-02T09:15:00',
}
const FILE_MESSAGE: MessageWire = {
  ...HEAD,
  from_user_id: HEAD.to_user_id,
  to_user_id: HEAD.from_user_id,
  message_id: '0b0a7c38-6f0b-4d0e-8a53-5c7c1d1f2e22',
  status: 'received',
  type: 'file',
  file_url: 'https://files.invalid/contract.pdf',
  file_name: 'contract.pdf',
  file_size: '348',
  created_at: '2026-03-02T09:17:30',
}
const IMAGE_MESSAGE: MessageWire = {
  ...HEAD,
  message_id: 'c3a1b7de-2f64-4c39-b0a9-7d4d3f5e6a33',
  status: 'sent',
  type: 'image',
  image_url: 'https://files.invalid/page-2.jpg',
  image_thumb_url: 'https://files.invalid/page-2-small.jpg',
  image_width: '1280',
  image_height: '720',
  created_at: '2026-03-02T09:21:04',
}
export const MESSAGES: readonly MessageWire[] = [TEXT_MESSAGE, FILE_MESSAGE, IMAGE_MESSAGE]

export const PROFESSIONALS: readonly ProfessionalWire[] = [
  {
    professional_id: 'professional-3',
    status: 'online',
    photo: 'https://files.invalid/professional-3.jpg',
    name: 'Marta Inventada',
    title: 'Debts and insolvency',
    title_html: '<b>Debts</b> and insolvency',
    description: 'Advises on debts, guarantees and insolvency.',
    speciality_id: 3,
    collegiate_number: 'EX-00003',
    schedules: [
      {
        day: 'monday',
        start_first_period: '8:00',
        end_first_period: '12:30',
        start_second_period: '14:00',
        end_second_period: '18:00',
      },
    ],
    next_connection_at: null,
    next_disconnection_at: '2026-03-02T12:30',
    room: { id: HEAD.room_id, last_message: IMAGE_MESSAGE, unread_messages: 1 },
  },
]
