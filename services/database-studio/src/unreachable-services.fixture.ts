/** Addresses of the services that the studio calls, at which nothing listens. */
export const unreachableServices = {
  SERVICE_URLS: JSON.stringify({
    settings: 'http://127.0.0.1:1',
    sdk: 'http://127.0.0.1:1',
  }),
}
