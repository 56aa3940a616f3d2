/** Sources and a page of an app with every available component, based on the table of the asset register. */
export const gallerySources = [
  {
    name: 'assets',
    binding: {
      kind: 'table',
      table: 'asset_register',
      operations: ['list'],
      search: { kind: '{{ params.kind }}' },
    },
    params: { kind: { type: 'text' } },
  },
  { name: 'broken', binding: { kind: 'workflow', workflow: 'Always fails', use: 'data' } },
]

const kinds = [
  { value: 'laptop', label: 'Laptops' },
  { value: 'phone', label: 'Phones' },
]
const chart = { type: 'chart', source: 'assets', x: 'name', y: 'version' }
const columns = [
  { field: 'name', label: 'Name' },
  { field: 'kind', label: 'Kind', format: 'badge' },
  { field: 'createdAt', label: 'Registered', format: 'datetime' },
  { field: 'serial_number', label: 'Serial number' },
  { field: 'version', label: 'Version', format: 'number' },
]

export const galleryPage = {
  slug: 'all',
  title: 'Every component',
  components: [
    { type: 'text', style: 'heading', value: 'Shown are {{ inputs.kind }}s' },
    {
      type: 'container',
      direction: 'row',
      children: [
        { type: 'metric', label: 'Assets', value: '{{ $count(data.assets.rows) }}' },
        { type: 'metric', label: 'Wrong', value: '{{ $number(inputs.kind) }}' },
      ],
    },
    { type: 'radio', id: 'kind', label: 'Kind', value: 'laptop', options: kinds },
    {
      type: 'tabs',
      tabs: [
        {
          label: 'Table',
          children: [
            {
              type: 'table',
              label: 'Assets',
              source: 'assets',
              params: { kind: '{{ inputs.kind }}' },
              columns,
            },
          ],
        },
        {
          label: 'Charts',
          children: [
            { ...chart, label: 'Bars', kind: 'bar' },
            { ...chart, label: 'Lines', kind: 'line' },
            { ...chart, label: 'Shares', kind: 'pie' },
          ],
        },
        {
          label: 'Broken',
          children: [{ type: 'detail', label: 'Fails', source: 'broken', fields: columns }],
        },
      ],
    },
    {
      type: 'form',
      id: 'form',
      label: 'Every input',
      fields: [
        { type: 'text_input', id: 'short', label: 'Text', required: true, maxLength: 20 },
        { type: 'text_area', id: 'long', label: 'Long text' },
        { type: 'number_input', id: 'number', label: 'Number', min: 1, max: 10 },
        { type: 'checkbox', id: 'agreed', label: 'Agreed' },
        {
          type: 'select',
          id: 'asset',
          label: 'Asset',
          options: { source: 'assets', value: 'id', label: 'name' },
        },
        { type: 'date_input', id: 'day', label: 'Day', value: '2026-03-04' },
        { type: 'datetime_input', id: 'time', label: 'Time', value: '2026-03-04T10:00:00.000Z' },
      ],
      action: { then: { message: '{{ form.short }}, {{ form.number }}, {{ form.time }}' } },
    },
    {
      type: 'button',
      label: 'Show phones',
      style: 'danger',
      action: { confirm: 'Show {{ "phones" }}?', then: { set: { kind: 'phone' } } },
    },
  ],
}
