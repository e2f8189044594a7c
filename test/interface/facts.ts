// The statements of the interface document, section by section and in our own words. An entry stands for every row of
// its tables, every numbered rule, and everything that it leaves open. A row goes by its first column, and its text
// begins with its type. section.ts makes a test of each; complete.test.ts compares the list with the document.

export const SECTIONS = {
  '1': {
    title: 'What the service does',
    facts: {
      conversation: 'end users and professionals meet in a chat',
      registration: 'the integrator registers, reads and updates its own users',
      'sign-in': 'who was registered can authenticate, nobody else',
      professionals: 'a user lists those available, with schedules and chat room',
      messages: 'a user reads a room page by page, from a pivot on',
      Chat: '/chat, called by the end user, Api-Key and Authorization',
      'Server-to-server': '/s2s/v1, called by the integrator, Api-Key and Secret-Key',
    },
  },
  '2.1': {
    title: 'Message entity',
    facts: {
      place: 'in the list of messages, and as last_message of a room',
      from_user_id: 'String, the sender',
      to_user_id: 'String, the receiver',
      room_id: 'Integer, the room',
      message_id: 'String, a UUID',
      status: 'String, sent, received or read',
      type: 'String, text, image or file',
      text: 'String, required of a text',
      image_url: 'String, required of an image',
      image_thumb_url: 'String, required of an image',
      image_width: 'String, digits, required of an image',
      image_height: 'String, digits, required of an image',
      file_url: 'String, required of a file',
      file_name: 'String, required of a file',
      file_size: 'String, digits, in KB, required of a file',
      created_at: 'String, UTC to the second, without a zone',
      'rule 1': 'fields of another type are absent',
      'rule 2': 'nothing that is needed to show a message is missing',
    },
  },
  '2.2': {
    title: 'Professional entity',
    facts: {
      professional_id: 'String, unique',
      status: 'String, offline or online',
      photo: 'String, a URL; under the name avatar in the sample',
      name: 'String, the name',
      title: 'String, plain text',
      title_html: 'String, with bold, italic, underline and colour',
      description: 'String, the long one',
      speciality_id: 'Integer, an id of 2.3; under the name speciality in the sample',
      collegiate_number: 'String, the number at the bar',
      schedules: 'Array of Schedule, when they connect',
      next_connection_at: 'String, UTC to the minute; null while connected',
      next_disconnection_at: 'String, UTC to the minute; null while disconnected',
      room: 'Room, null when there is none',
    },
  },
  '2.3': {
    title: 'Speciality ids',
    facts: {
      '1': 'Generalist',
      '2': 'Tax',
      '3': 'Debts',
      '4': 'Driving',
      '5': 'Work',
      '6': 'Family',
      '7': 'Housing',
      '8': 'Consumer',
      '11': 'Criminal',
    },
  },
  '2.4': {
    title: 'Schedule entity',
    facts: {
      day: 'String, an English weekday in lower case',
      start_first_period: 'String, UTC, when the morning starts',
      end_first_period: 'String, UTC, when the morning ends',
      start_second_period: 'String, UTC, when the afternoon starts',
      end_second_period: 'String, UTC, when the afternoon ends',
    },
  },
  '2.5': {
    title: 'Room entity',
    facts: {
      id: 'String, though the sample has a number; asked for as an Integer',
      last_message: 'Message, the last of the room',
      unread_messages: 'Integer, how many were not read',
    },
  },
  '2.6': {
    title: 'User',
    facts: {
      user_id: "String, the integrator's own id; required on create, in the path on update",
      status: 'Numeric, 0 free, 2 premium or 4 freemium; required on create and on update',
      email: 'String, an e-mail address',
      nid_number: 'String, a DNI or NIE',
      first_name: 'String, optional',
      last_name: 'String, optional',
      gender: 'Numeric, 0 male or 1 female',
      birthdate: 'Date, YYYY-MM-DD',
      mobile_phone: 'String, a number',
      mobile_phone_prefix: 'String, a prefix',
      coverage_name: 'String, any value to group by',
      contract_number: 'String, any id that links the two users',
      service_language_code: 'String, ISO 639-1',
      description: 'String, may be null',
      country_code: 'String, ISO 3166-1 alpha-2',
      ml_group_name: 'String, decides which professionals are seen',
      md_group_name: 'String, the group on the medical platform; changes nothing here',
      'rule 1': 'a GET shows every field but country_code',
      'rule 2': 'country_code in either case',
      'rule 3': 'a GET shows the prefix in front of the number, a create has them apart',
    },
  },
  '3': {
    title: 'States and transitions',
    facts: {
      Message: 'status: sent, received, read',
      Professional: 'status: offline, online',
      User: 'status: 0, 2, 4',
      'not shown: transitions': 'any state may follow any other',
      'fact 1': 'of the next connection and disconnection, the one that is the case already is null',
      'fact 2': '0 gives no access, 2 all of it, 4 a trial of a time that was agreed on',
    },
  },
  '4': {
    title: 'Endpoints',
    facts: {
      bodies: 'all are JSON',
      addresses: 'server-to-server at production and demo, chat at production alone',
    },
  },
  '4.1': {
    title: 'GET /chat/message',
    facts: {
      headers: 'Api-Key, Authorization, Accept',
      room: 'Integer, the room',
      pivot: 'String, the message to start from',
      limit: 'Integer, how many',
      older: 'Boolean, true: before the pivot, false: after it',
      answer: 'an array of messages',
      sample: 'oldest first',
      'not shown: order': 'any order will do',
      'not shown: required parameters': 'only what was asked for is sent',
    },
  },
  '4.2': {
    title: 'GET /chat/professionals',
    facts: {
      user: 'those available to the user of the token',
      headers: 'Api-Key, Authorization, Accept',
      request: 'neither query nor body',
      answer: 'an array of professionals, each with schedules and a room or null',
    },
  },
  '4.3': {
    title: 'POST /s2s/v1/users',
    facts: {
      purpose: 'the new user can authenticate',
      headers: 'Api-Key, Secret-Key, Content-Type, Accept',
      body: 'user_id and status are required, all others optional',
      'not shown: answer': 'every answer to a create that was carried out counts as done',
    },
  },
  '4.4': {
    title: 'GET /s2s/v1/users/{user_id}',
    facts: {
      path: "the integrator's id, whatever it holds",
      headers: 'Api-Key, Secret-Key, Content-Type',
      request: 'no body',
      answer: 'sixteen fields, typed as in 2.6',
      'not shown: empty fields': 'null, empty or absent are one; numbers as text are numbers',
    },
  },
  '4.5': {
    title: 'PUT /s2s/v1/users/{user_id}',
    facts: {
      headers: 'Api-Key, Secret-Key, Content-Type, Accept',
      body: 'the fields of 2.6 without user_id; status required',
      sample: 'all fields, with a description of null',
      'rule 1': 'the complete set: what it does not name is cleared',
      'not shown: answer': 'every answer to a PUT that was carried out is understood',
    },
  },
  '4.6': {
    title: 'PATCH /s2s/v1/users/{user_id}',
    facts: {
      headers: 'Api-Key, Secret-Key, Content-Type, Accept',
      body: 'the fields of 2.6 without user_id; status required',
      sample: 'status alone',
      'rule 2': 'only what changes: what it does not name stays',
      'not shown: answer': 'every answer to a PATCH that was carried out is understood',
    },
  },
  '5': {
    title: 'Authentication',
    facts: {
      '/chat/*': 'Api-Key, Authorization with a Bearer JWT, Accept',
      '/s2s/v1/*': 'Api-Key, Secret-Key, Content-Type',
      'rule 1': 'a chat call is made for the user of its token',
      'rule 2': 'the Secret-Key goes to server-to-server endpoints alone',
      'rule 3': 'key, secret and token are filled in as they were given',
      'not shown: how a token is had': 'any JWT is passed on, and one that has run out is distinguished',
    },
  },
  '6': { title: 'Events', facts: { 'not shown: events': 'nobody tells of a change; a GET shows it' } },
  '7': {
    title: 'Errors',
    facts: {
      'not shown: status codes': 'whatever status comes has a meaning',
      'not shown: body': 'JSON, HTML or nothing',
      'not shown: error codes': 'a 2xx that reports an error does not count',
      'not shown: conditions': 'who exists already, who does not, who is forbidden, what does not fit',
    },
  },
  '8': {
    title: 'Limits',
    facts: {
      limit: 'sets how many messages come',
      file_size: 'in KB',
      'not shown: default and maximum of limit': 'a room is read to its end whatever they are',
      'not shown: rate limits': 'how long to wait is read in either form',
      'not shown: size limits': 'too large is an answer like any other',
    },
  },
  '9': {
    title: 'Versioning',
    facts: {
      'server-to-server': 'v1 in the path',
      chat: 'no version in the path',
      addresses: 'development and production have one each',
      'not shown: policy': 'another version is another path, and what is new in this one does no harm',
    },
  },
} as const

export type SectionNumber = keyof typeof SECTIONS
export type FactName<Section extends SectionNumber> = keyof (typeof SECTIONS)[Section]['facts'] & string
