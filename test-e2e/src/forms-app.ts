/** A table with a column of every type that a form can edit, and an app to edit its records. */
export const formsTable = {
  slug: 'form_values',
  name: 'Form values',
  columns: [
    { name: 'title', type: 'text', nullable: false },
    { name: 'price', type: 'decimal', precision: 30, scale: 10 },
    { name: 'big', type: 'bigint' },
    { name: 'count', type: 'integer' },
    { name: 'agreed', type: 'boolean' },
    { name: 'day', type: 'date' },
    { name: 'due', type: 'timestamp' },
    { name: 'seen', type: 'timestamp' },
    { name: 'extra', type: 'json' },
    { name: 'state', type: 'enum', values: ['old', 'new', 'gone'] },
    { name: 'owner', type: 'reference', table: 'form_owners' },
  ],
}
export const ownersTable = {
  slug: 'form_owners',
  name: 'Form owners',
  columns: [{ name: 'name', type: 'text', nullable: false }],
}

const writable = formsTable.columns.map(({ name }) => name)
export const formsSources = [
  {
    name: 'record',
    binding: {
      kind: 'table',
      table: 'form_values',
      operations: ['list', 'update'],
      writable,
      filter: { id: '{{ params.id }}' },
    },
    params: { id: { type: 'text', required: true } },
  },
  {
    name: 'records',
    binding: {
      kind: 'table',
      table: 'form_values',
      operations: ['list', 'create'],
      writable: ['title', 'price', 'count'],
      search: { count: '{{ params.count }}' },
    },
    params: { count: { type: 'integer' } },
  },
  {
    name: 'owners',
    binding: {
      ...{ kind: 'table', table: 'form_owners', limit: 2, sort: 'name' },
      search: { name: { contains: '{{ params.text }}' }, id: '{{ params.id }}' },
    },
    params: { text: { type: 'text' }, id: { type: 'text' } },
  },
]

const field = (type: string, id: string, more: object = {}) => ({
  ...{ type, id, label: id, value: `{{ data.record.rows[0].${id} }}` },
  ...more,
})

export const formsPages = [
  {
    slug: 'new',
    title: 'New record',
    components: [
      {
        type: 'form',
        id: 'create',
        label: 'Create',
        submitLabel: 'Create',
        fields: [
          { type: 'text_input', id: 'title', label: 'title', required: true },
          { type: 'number_input', id: 'price', label: 'price' },
        ],
        action: { source: 'records', operation: 'create', then: { message: '{{ result.title }} is there.' } },
      },
    ],
  },
  {
    slug: 'edit',
    title: 'Edit',
    position: 1,
    components: [
      {
        type: 'detail',
        label: 'Saved',
        source: 'record',
        params: { id: '{{ page.params.id }}' },
        fields: [{ field: 'price', format: 'number' }],
      },
      {
        type: 'form',
        id: 'edit',
        label: 'Change',
        fields: [
          field('text_input', 'title', { required: true }),
          field('number_input', 'price'),
          field('number_input', 'big'),
          field('number_input', 'count', { step: 1 }),
          field('checkbox', 'agreed'),
          field('date_input', 'day'),
          field('datetime_input', 'due'),
          field('date_input', 'seen'),
          field('text_area', 'extra'),
          field('select', 'state', { options: [{ value: 'new', label: 'New' }] }),
          field('select', 'owner', {
            options: { source: 'owners', value: 'id', label: 'name', search: 'text', find: 'id' },
          }),
        ],
        action: {
          ...{ source: 'record', operation: 'update', id: '{{ page.params.id }}' },
          version: '{{ data.record.rows[0].version }}',
          params: { id: '{{ page.params.id }}' },
          then: { refresh: ['record'], message: 'Saved.' },
        },
      },
    ],
  },
  {
    slug: 'failing',
    title: 'Failing',
    position: 2,
    components: [
      { type: 'text', value: 'Total: {{ $number("many") }}' },
      { type: 'text', value: 'Not to be seen', visible: '{{ $number("many") }}' },
      { type: 'number_input', id: 'count', label: 'Count', value: '{{ $number("many") }}' },
      {
        ...{ type: 'table', label: 'Records of the count', source: 'records', columns: [{ field: 'title' }] },
        params: { count: '{{ inputs.count }}' },
      },
    ],
  },
]
