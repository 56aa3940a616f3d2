import { ArticleStatus, ArticleVersionStatus } from '@opsplane/contracts'
import { z } from 'zod'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, searchFilter, searchSyntax } from '../lists/filters.js'

const q = searchFilter.meta({
  description: `Words to find in the number, title, tags or summary. ${searchSyntax}`,
})

/** Filters of the article list. All given filters must match. */
export const articleFilters = z.object({
  status: listParameter(ArticleStatus)
    .optional()
    .meta({
      description:
        'One or several statuses, repeated or separated by commas. Readers see published articles only.',
      example: ['draft', 'in_review'],
    }),
  category: z.string().min(1).max(100).optional(),
  tag: z.string().min(1).max(50).optional().meta({ description: 'Tag of the article.' }),
  language: z.string().length(2).optional(),
  q,
  ...createdFilters,
})

/** Filters of the list of an article's versions. */
export const versionFilters = z.object({
  status: listParameter(ArticleVersionStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['published', 'outdated'],
    }),
  q,
})
