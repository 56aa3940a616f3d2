/** Generated from the OpenAPI document by `npm run client`: change the routes, not this file. */

export interface paths {
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Query the audit log
         * @description All given filters must hold. Newest first unless `sort` says otherwise. An event appears shortly after its action; `type` takes a pattern such as `token.*`.
         */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an event of the audit log */
        get: operations["getAuditEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List checkpoints of the audit log
         * @description Newest first. One is taken of every 1000 events, and each hour in which events came.
         */
        get: operations["listAuditCheckpoints"];
        put?: never;
        /**
         * Sign the end of the audit log
         * @description Keep the checkpoint outside: it proves later that nothing before it was changed or cut off.
         */
        post: operations["createAuditCheckpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/checkpoints/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the public key of checkpoints */
        get: operations["getAuditCheckpointKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the audit log
         * @description Lines of JSON, one event each, in the order of the chain, up to where it ended when the export began. The last line is `{"complete":true,"count":n}`; without it something went wrong on the way. Raises the event `audit.exported`.
         */
        get: operations["exportAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Verify the audit log
         * @description Walks the chain of the workspace, over all its environments, and compares it with the checkpoints kept here. Stops at the first problem, and after 10 s: `nextCursor` goes on.
         */
        get: operations["verifyAudit"];
        put?: never;
        /**
         * Verify the audit log against a checkpoint kept outside
         * @description As the other verification; also what the checkpoint knows of must be there, unchanged.
         */
        post: operations["verifyAuditAgainstCheckpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation
         * @description A new login gets its name and password; one that exists with this e-mail sends its own password. The answer is a session, as after logging in. A token works once; an unknown, used, replaced or expired one is `invalid_token`. Emits `user.activated`.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out
         * @description Ends the session this request is made with. API keys are revoked instead.
         */
        post: operations["endSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current user and workspace
         * @description With X-Workspace also the workspace, its environment, and what the caller may do there.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in
         * @description Exchanges e-mail and password for a session token, which ends when it lies idle, at `expiresAt`, or at logout. An unknown e-mail and a wrong password are answered alike. After several failures each next one must wait longer: 429 with Retry-After.
         */
        post: operations["createSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your API keys
         * @description Those of the calling user in this workspace, with revoked ones. Never the keys themselves.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create an API key
         * @description Allows at most what the caller may do. `token` is shown this once. Emits `token.created`.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description It stops being valid at once and stays in the list. Emits `token.revoked`.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/tokens/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key
         * @description Creates a successor with the same rights and leaves the old key valid for a short overlap, in one transaction. Without `id` it is the key of this request; another one needs `tokens:manage`. Using the old key after the overlap revokes the successor as well. Emits `token.rotated` and `token.created`.
         */
        post: operations["rotateToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/classes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List classes
         * @description The built-in classes and those of the workspace.
         */
        get: operations["listCiClasses"];
        put?: never;
        /**
         * Create a class
         * @description `schema` is a JSON Schema of type object made of keywords that are enforced: type, properties, required, additionalProperties, items, enum, const, anyOf, format, and the bounds of numbers, texts and lists.
         */
        post: operations["createCiClass"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/classes/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update a class
         * @description Also a built-in one. Items already there stay as they are; their attributes are checked when they are next written.
         */
        patch: operations["updateCiClass"];
        trace?: never;
    };
    "/cmdb/impact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What breaks if these items fail at once
         * @description Walks relations in the direction of their impact and honours redundancy: an item survives while enough of its dependencies of a type are operational. Planned and retired items neither break nor count. Every affected item has a shortest path from what fails. At most 10,000 items and 100 hops.
         */
        post: operations["getImpact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List configuration items
         * @description All given filters must hold. Newest first unless `sort` says otherwise.
         */
        get: operations["listConfigurationItems"];
        put?: never;
        /**
         * Record a configuration item
         * @description Planned unless `status` says operational. `attributes` must fit the schema of the class. `source` and `nativeKey` together are unique: a conflict names the item that has them as `params.itemId`. Emits `ci.created`.
         */
        post: operations["createConfigurationItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/items/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a configuration item
         * @description With the number of open incidents about it, unless `asOf` asks for an earlier time.
         */
        get: operations["getConfigurationItem"];
        put?: never;
        post?: never;
        /**
         * Delete a planned configuration item
         * @description Only while planned and without relations; what was in service is retired. Emits `ci.deleted`.
         */
        delete: operations["deleteConfigurationItem"];
        options?: never;
        head?: never;
        /**
         * Update a configuration item
         * @description Changes the given fields; `attributes` and `redundancy` are replaced as a whole. Emits `ci.updated`, and for a `status` the event of the action that leads there. What changes nothing emits nothing.
         */
        patch: operations["updateConfigurationItem"];
        trace?: never;
    };
    "/cmdb/items/{id}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a configuration item into service
         * @description From planned, non-operational or repair in progress. Emits `ci.status_changed`.
         */
        post: operations["activateConfigurationItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/items/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a configuration item as failed
         * @description From operational or repair in progress. Emits `ci.status_changed`.
         */
        post: operations["failConfigurationItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/items/{id}/impact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What breaks if this item fails
         * @description Walks relations in the direction of their impact and honours redundancy: an item survives while enough of its dependencies of a type are operational. Planned and retired items neither break nor count. Every affected item has a shortest path from what fails. At most 10,000 items and 100 hops.
         */
        get: operations["getImpactOfConfigurationItem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/items/{id}/relations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the relations of a configuration item
         * @description Those it is the source of and those it is the target of.
         */
        get: operations["listRelationsOfConfigurationItem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/items/{id}/repair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to repair a configuration item
         * @description From operational or non-operational. Emits `ci.status_changed`.
         */
        post: operations["repairConfigurationItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/items/{id}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire a configuration item
         * @description Final: a retired item cannot be changed, related anew or named in a new incident. Emits `ci.retired`.
         */
        post: operations["retireConfigurationItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/relations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List relations
         * @description Newest first unless `sort` says otherwise.
         */
        get: operations["listCiRelations"];
        put?: never;
        /**
         * Relate two configuration items
         * @description There is one relation of a type from one item to another. Emits `ci.relation_added`.
         */
        post: operations["createCiRelation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/relations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a relation
         * @description Emits `ci.relation_removed`.
         */
        delete: operations["deleteCiRelation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cmdb/topology": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Dependency graph
         * @description The items and the relations between them: all, or what lies around one item. Edges are all relations of the wanted types between two of the nodes, at most ten for each node of the limit.
         */
        get: operations["getTopology"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The API reference page */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of an event, newest first
         * @description To every webhook of the workspace and environment, replays included. `after` is the id of a delivery: older ones follow. An event that went to no webhook has none.
         */
        get: operations["listEventDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/asyncapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The event streams as an AsyncAPI 3.0 document */
        get: operations["getAsyncApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the event types that can be subscribed to */
        get: operations["listEventTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/catalog/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an event type with the schema of its events */
        get: operations["getEventType"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/topics/{name}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the events of a topic, oldest first
         * @description `after` is the id of an event: those published later follow, without it the oldest kept. With `timeout` the answer waits for the first event. `nextCursor` is always what to go on with: the last event read, or the given cursor when there was nothing new.
         */
        get: operations["listTopicEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/topics/{name}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish an event to a topic
         * @description Answered once the event is stored. An event with the `deduplicationKey` of one of the last 5 minutes on this topic is suppressed: the answer is the earlier event, with `deduplicated` true. After an answer of 503 the event may have been stored; with a `deduplicationKey` it is safe to send it again.
         */
        post: operations["publishTopicEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/calendars": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List SLA calendars */
        get: operations["listSlaCalendars"];
        put?: never;
        /**
         * Create an SLA calendar
         * @description Refused when hours overlap, the zone is unknown or nothing is ever open.
         */
        post: operations["createSlaCalendar"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/calendars/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an SLA calendar */
        get: operations["getSlaCalendar"];
        put?: never;
        post?: never;
        /**
         * Delete an SLA calendar
         * @description Refused while a policy names it.
         */
        delete: operations["deleteSlaCalendar"];
        options?: never;
        head?: never;
        /**
         * Update an SLA calendar
         * @description Makes a new revision for clocks that start from now on; those that began keep theirs.
         */
        patch: operations["updateSlaCalendar"];
        trace?: never;
    };
    "/itsm/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List incidents
         * @description All given filters must hold. Newest first unless `sort` says otherwise.
         */
        get: operations["listIncidents"];
        put?: never;
        /**
         * Create an incident
         * @description Only `title` is needed. Emits `incident.created`; with an `assigneeId` also `incident.assigned`, and the incident is in progress.
         */
        post: operations["createIncident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/incidents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an incident
         * @description By its id, or by its number such as `INC-12`.
         */
        get: operations["getIncident"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update an incident
         * @description Changes the given fields. Each change counts as the action it amounts to and emits that event: a raised severity or another team `incident.escalated`, an assignee `incident.assigned`, a status `incident.resolved`, `incident.closed` or `incident.reopened`; everything else together one `incident.updated`. What changes nothing emits nothing. `allowedActions` tells which actions the status allows.
         */
        patch: operations["updateIncident"];
        trace?: never;
    };
    "/itsm/incidents/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a resolved incident
         * @description Final: a closed incident cannot be changed. Emits `incident.closed`.
         */
        post: operations["closeIncident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/incidents/{id}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the comments of an incident */
        get: operations["listIncidentComments"];
        put?: never;
        /**
         * Comment on an incident
         * @description Adds a public comment or an internal work note, until the incident is closed. An incident on hold for its caller resumes when the caller comments. Emits `incident.comment_added`.
         */
        post: operations["addIncidentComment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/incidents/{id}/escalate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Escalate an incident
         * @description Raises the severity, hands the incident to another team, or both; with neither given the severity goes up one step. Lowering the severity is refused: use PATCH. Emits `incident.escalated`.
         */
        post: operations["escalateIncident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/incidents/{id}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reopen a resolved incident
         * @description Goes back in progress and drops the resolution. Emits `incident.reopened`.
         */
        post: operations["reopenIncident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/incidents/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve an incident
         * @description From open, in progress or on hold. Emits `incident.resolved`.
         */
        post: operations["resolveIncident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/incidents/{id}/sla": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain the SLA clocks of an incident
         * @description Every clock with what it counted when: open hours, closed hours, pauses with the event that led to them. The counted times add up to the elapsed time exactly.
         */
        get: operations["getIncidentSla"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/sla-policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List SLA policies */
        get: operations["listSlaPolicies"];
        put?: never;
        /**
         * Create an SLA policy
         * @description Holds for incidents opened from now on. A goal beyond a year of the calendar is refused.
         */
        post: operations["createSlaPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/itsm/sla-policies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an SLA policy */
        get: operations["getSlaPolicy"];
        put?: never;
        post?: never;
        /**
         * Delete an SLA policy
         * @description Clocks that began go on.
         */
        delete: operations["deleteSlaPolicy"];
        options?: never;
        head?: never;
        /**
         * Update an SLA policy
         * @description Makes a new revision; clocks that began keep theirs until it is reapplied.
         */
        patch: operations["updateSlaPolicy"];
        trace?: never;
    };
    "/itsm/sla-policies/{id}/reapply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reapply an SLA policy to open clocks
         * @description Counts open clocks of older revisions anew by the present policy and calendar. Unless `dryRun` is false it only tells what would change. Emits `sla.retargeted`.
         */
        post: operations["reapplySlaPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List knowledge articles
         * @description Those with `knowledge:write` get every article as it is being worked on; readers get the published ones.
         */
        get: operations["listArticles"];
        put?: never;
        /**
         * Create an article
         * @description Begins a draft. Emits `article.created`.
         */
        post: operations["createArticle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an article
         * @description By its id, or by its number such as `KB-12`. Those with `knowledge:write` get the version being worked on, readers the published one.
         */
        get: operations["getArticle"];
        put?: never;
        post?: never;
        /**
         * Delete a draft
         * @description Only a draft that was never published; others are retired. Emits `article.deleted`.
         */
        delete: operations["deleteArticle"];
        options?: never;
        head?: never;
        /**
         * Edit an article
         * @description Changes a draft. The first change to a published article begins its next version; readers keep the published one until that is approved. Emits `article.updated`; what changes nothing emits nothing.
         */
        patch: operations["updateArticle"];
        trace?: never;
    };
    "/knowledge/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve and publish an article
         * @description By somebody who has not written on this version. Emits `article.published`, and `article.outdated` for the version it replaces.
         */
        post: operations["approveArticle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/{id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say whether an article helped
         * @description One vote per person; the last one counts. Emits `article.feedback_given`.
         */
        post: operations["giveArticleFeedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an article back to its author
         * @description It is a draft again. Emits `article.rejected`.
         */
        post: operations["rejectArticle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/{id}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire a published article
         * @description Final: readers no longer get it, nor does search. Emits `article.retired`.
         */
        post: operations["retireArticle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/{id}/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit a draft for review
         * @description Emits `article.submitted`.
         */
        post: operations["submitArticle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of an article
         * @description The newest first.
         */
        get: operations["listArticleVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/{id}/versions/{n}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one version of an article */
        get: operations["getArticleVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search published articles
         * @description By identifiers and error codes, words, similar spelling and meaning, fused into one list. `meta` tells which way was used, and why if a better one could not be.
         */
        post: operations["searchKnowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List notifications to admins
         * @description What the platform did by itself and someone should look at. Newest first.
         */
        get: operations["listNotifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a notification */
        get: operations["getNotification"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark a notification as read
         * @description For the calling user alone. Repeating it changes nothing. Emits no event.
         */
        post: operations["markNotificationRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This API as OpenAPI 3.1, in JSON */
        get: operations["getOpenApiJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This API as OpenAPI 3.1, in YAML */
        get: operations["getOpenApiYaml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List secret names
         * @description Names, versions and uses; values are never shown.
         */
        get: operations["listSecrets"];
        put?: never;
        /**
         * Store a secret
         * @description Usable as `{{secrets.<name>}}` from then on. A name that is taken is a 409. Emits `secret.created`.
         */
        post: operations["createSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a secret
         * @description Its name, version and uses by services; the value is never shown.
         */
        get: operations["getSecret"];
        /**
         * Rotate a secret
         * @description Replaces the value. Emits `secret.rotated`.
         */
        put: operations["rotateSecret"];
        post?: never;
        /**
         * Delete a secret
         * @description What refers to it fails from then on. Emits `secret.deleted`.
         */
        delete: operations["deleteSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List roles
         * @description The built-in ones, then those of the workspace by name, with what each allows.
         */
        get: operations["listRoles"];
        put?: never;
        /**
         * Create a custom role
         * @description Allows at most what the caller may do. A name that is taken or built in is a 409. Emits `role.created`.
         */
        post: operations["createRole"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/roles/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a role */
        get: operations["getRole"];
        put?: never;
        post?: never;
        /**
         * Delete a custom role
         * @description A 409 while users have it. Emits `role.deleted`.
         */
        delete: operations["deleteRole"];
        options?: never;
        head?: never;
        /**
         * Update a custom role
         * @description Takes effect for everyone who has the role, and for their API keys, within a second. Built-in roles cannot be changed (409). Emits `role.updated`.
         */
        patch: operations["updateRole"];
        trace?: never;
    };
    "/settings/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users of the workspace
         * @description With invited, suspended and removed (`deactivated`) ones unless filtered by `status`.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a user of the workspace */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /**
         * Remove a user from the workspace
         * @description Sessions and API keys stop working in this workspace within a second, the keys for good; the login stays. An open invitation ends. The user stays in the list as `deactivated` and may be invited again. Emits `user.deactivated` and `token.revoked`.
         */
        delete: operations["removeUser"];
        options?: never;
        head?: never;
        /**
         * Change the role of a user, suspend or reactivate
         * @description Takes effect everywhere within a second. The last active owner stays one (409, `last_owner`). Nobody gives or changes what they may not do themselves. Emits `user.role_changed`, `user.suspended`, `user.reactivated`.
         */
        patch: operations["updateUser"];
        trace?: never;
    };
    "/settings/users/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invite a user
         * @description Where a mail server is configured the token goes to the person by mail; else `invitation.token` is shown this once, to be handed on. Inviting somebody again ends the former invitation. A member is a 409. No role can be given that allows more than the caller may do. Emits `user.invited`.
         */
        post: operations["inviteUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description The secret is write-only; has_secret says whether there is one.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Deliveries that are not finished fail.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Update, pause or resume a webhook
         * @description Setting status to active resumes a paused webhook: what it missed is delivered.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook, newest first
         * @description `after` is the id of a delivery: older ones follow. Deliveries are kept for 30 days, unless the installation says otherwise, and longer while they are not finished.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery with its requests and responses
         * @description Secrets in headers, and where the endpoint echoes them, are shown as `***`.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{deliveryId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a delivery
         * @description Makes a new delivery of the same event, with the same body and event id, whose `replayOf` names this one. It is `held` while the webhook is paused. A delivery still on its way is an `invalid_state_transition`.
         */
        post: operations["replayWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{deliveryId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a failed delivery
         * @description Sends the same delivery again, with the attempts its webhook allows now. It is `held` while the webhook is paused. A delivery that has not failed is an `invalid_state_transition`.
         */
        post: operations["retryWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay many deliveries
         * @description Makes a job that replays the finished deliveries that match, oldest first and rate-limited; each replay is a delivery with `replayOf`. Replays themselves are not replayed again, nor is what failed but was replayed since and has not failed again. With `dryRun` it only counts. `conflict` while another job of the webhook runs.
         */
        post: operations["replayWebhookDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the replay jobs of a webhook, newest first
         * @description `after` is the id of a job: older ones follow.
         */
        get: operations["listWebhookReplays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/replays/{replayId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a replay job with its progress */
        get: operations["getWebhookReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/replays/{replayId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay job
         * @description Nothing more is replayed; the replays made so far are delivered.
         */
        post: operations["cancelWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/secrets/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret
         * @description The new secret is given, or made here and shown this once. The replaced one stays valid for the overlap: X-Service-Signature-256 is by the newest secret, and webhook-signature has one signature per valid secret, newest first. Emits `webhook.secret_rotated`. `conflict` when ten secrets are valid already.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test ping
         * @description Sends one `webhook.test` event, signed and with the headers of a delivery, also while the webhook is paused, and answers with what the endpoint answered, whatever its status. The ping is neither retried nor logged, and does not count towards the automatic pause. Without an answer: `upstream_timeout` when `timeout_ms` passed, `upstream_error` when DNS, connection, TLS or HTTP failed, or the address must not be called; the detail's code is the kind of failure as in a delivery's `lastError`. `conflict` when a header refers to a secret that does not exist.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workspaces you can access
         * @description With an API key that is the one the key belongs to. Needs no X-Workspace.
         */
        get: operations["listWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update the current workspace
         * @description Changes the given fields. The slug must be that of X-Workspace. Emits `workspace.updated`.
         */
        patch: operations["updateWorkspace"];
        trace?: never;
    };
    "/workspaces/{slug}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get figures about the current workspace
         * @description Members and keys of the workspace, secrets and events of the environment. The slug must be that of X-Workspace.
         */
        get: operations["getWorkspaceStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current workspace
         * @description The one named by X-Workspace, with the role of the user in it.
         */
        get: operations["getCurrentWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            /** Format: date-time */
            createdAt: string;
            email: string;
            id: string;
            name: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /**
         * @example {
         *       "id": "usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F",
         *       "name": "Ada Lovelace",
         *       "type": "user"
         *     }
         */
        Actor: {
            id: string;
            name: string;
            /** @enum {string} */
            type: "user" | "api_token" | "workflow" | "system";
        };
        Article: {
            /** @description What the present status allows. */
            allowedActions: components["schemas"]["ArticleAction"][];
            /** @description The version being worked on, or the last one. */
            articleVersion: number;
            /**
             * @description Who began the version being worked on.
             * @example {
             *       "id": "usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F",
             *       "name": "Ada Lovelace",
             *       "type": "user"
             *     }
             */
            author: {
                id: string;
                name: string;
                /** @enum {string} */
                type: "user" | "api_token" | "workflow" | "system";
            };
            /** @description In Markdown. */
            body: string;
            /** @example network */
            category: string | null;
            /** Format: date-time */
            createdAt: string;
            helpfulness: {
                helpful: number;
                notHelpful: number;
            };
            id: string;
            /**
             * @description ISO 639-1 code; decides how the text is searched.
             * @example en
             */
            language: string;
            /**
             * @description Unique in the workspace, increasing.
             * @example KB-12
             */
            number: string;
            /** Format: date-time */
            publishedAt: string | null;
            publishedBy: {
                id: string;
                name: string;
                /** @enum {string} */
                type: "user" | "api_token" | "workflow" | "system";
            } | null;
            /** @description The version readers get. */
            publishedVersion: number | null;
            rejectionReason: string | null;
            /** Format: date-time */
            retiredAt: string | null;
            /** @description Incident it was learnt from. */
            sourceIncidentId: string | null;
            /** @description Problem it was learnt from. */
            sourceProblemId: string | null;
            status: components["schemas"]["ArticleStatus"];
            /** @description What it helps with, in a sentence. */
            summary: string | null;
            /**
             * @description Repeated ones are dropped.
             * @example [
             *       "vpn"
             *     ]
             */
            tags: string[];
            /** @example VPN does not connect from home */
            title: string;
            /** Format: date-time */
            updatedAt: string;
            /** Format: date-time */
            validUntil: string | null;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
            visibility: components["schemas"]["ArticleVisibility"];
        };
        /** @enum {string} */
        ArticleAction: "edit" | "submit" | "approve" | "reject" | "retire" | "delete";
        ArticleEnvelope: {
            data: components["schemas"]["Article"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "helpful": true
         *     }
         */
        ArticleFeedback: {
            helpful: boolean;
        };
        ArticlePage: {
            data: components["schemas"]["Article"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "summary": "What to try when the VPN does not connect."
         *     }
         */
        ArticlePatch: {
            body?: string;
            /** @example network */
            category?: string | null;
            /**
             * @description ISO 639-1 code; decides how the text is searched.
             * @example en
             */
            language?: string;
            /** @description Incident it was learnt from. */
            sourceIncidentId?: string | null;
            /** @description Problem it was learnt from. */
            sourceProblemId?: string | null;
            /** @description What it helps with, in a sentence. */
            summary?: string | null;
            /**
             * @description Repeated ones are dropped.
             * @example [
             *       "vpn"
             *     ]
             */
            tags?: string[];
            /** @example VPN does not connect from home */
            title?: string;
            /**
             * Format: date-time
             * @description From then on search and readers no longer get it.
             */
            validUntil?: string | null;
            visibility?: components["schemas"]["ArticleVisibility"];
        };
        /** @enum {string} */
        ArticleStatus: "draft" | "in_review" | "published" | "retired";
        ArticleVersion: {
            articleId: string;
            articleVersion: number;
            author: components["schemas"]["Actor"];
            body: string;
            /** @example network */
            category: string | null;
            /**
             * @description ISO 639-1 code; decides how the text is searched.
             * @example en
             */
            language: string;
            /** Format: date-time */
            publishedAt: string | null;
            publishedBy: {
                id: string;
                name: string;
                /** @enum {string} */
                type: "user" | "api_token" | "workflow" | "system";
            } | null;
            /** @description Incident it was learnt from. */
            sourceIncidentId: string | null;
            /** @description Problem it was learnt from. */
            sourceProblemId: string | null;
            status: components["schemas"]["ArticleVersionStatus"];
            /** @description What it helps with, in a sentence. */
            summary: string | null;
            /**
             * @description Repeated ones are dropped.
             * @example [
             *       "vpn"
             *     ]
             */
            tags: string[];
            /** @example VPN does not connect from home */
            title: string;
            /** Format: date-time */
            updatedAt: string;
            /** Format: date-time */
            validUntil: string | null;
            visibility: components["schemas"]["ArticleVisibility"];
        };
        ArticleVersionEnvelope: {
            data: components["schemas"]["ArticleVersion"];
            meta: components["schemas"]["Meta"];
        };
        ArticleVersionPage: {
            data: components["schemas"]["ArticleVersion"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /** @enum {string} */
        ArticleVersionStatus: "draft" | "in_review" | "published" | "outdated" | "retired";
        /**
         * @description `public`: whoever may read. `internal`: only those with `knowledge:write`.
         * @enum {string}
         */
        ArticleVisibility: "public" | "internal";
        /** @description Kept outside, it proves later that nothing before it was changed or cut off. */
        AuditCheckpoint: {
            /** Format: date-time */
            at: string;
            /** @description Of the event with this `seq`. */
            hash: string;
            /** @description Which key signed: GET /audit/checkpoints/key. */
            keyId: string;
            seq: number;
            /** @description Ed25519, base64. What it is made over: see ADR 020. */
            signature: string;
            workspaceId: string;
        };
        AuditCheckpointEnvelope: {
            data: components["schemas"]["AuditCheckpoint"];
            meta: components["schemas"]["Meta"];
        };
        AuditCheckpointKey: {
            /** @enum {string} */
            algorithm: "Ed25519";
            keyId: string;
            /** @description SPKI DER in base64. */
            publicKey: string;
        };
        AuditCheckpointKeyEnvelope: {
            data: components["schemas"]["AuditCheckpointKey"];
            meta: components["schemas"]["Meta"];
        };
        AuditCheckpointPage: {
            data: components["schemas"]["AuditCheckpoint"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        AuditEvent: {
            actor: components["schemas"]["Actor"];
            causationId: string | null;
            /** Format: date-time */
            createdAt: string;
            data: {
                after: {
                    [key: string]: unknown;
                } | null;
                before: {
                    [key: string]: unknown;
                } | null;
                changes: string[];
            } & {
                [key: string]: unknown;
            };
            /** @enum {string} */
            environment: "production" | "staging" | "development";
            /** @description SHA-256 over the hash before, `seq` and the event, in hex. */
            hash: string;
            id: string;
            requestId: string | null;
            resource: {
                displayName: string;
                id: string;
                number?: string;
                type: string;
            };
            /** @description Place in the chain of the workspace, from 1 without gaps. */
            seq: number;
            source?: components["schemas"]["EventSource"];
            type: string;
            version: number;
            workspaceId: string;
        };
        AuditEventEnvelope: {
            data: components["schemas"]["AuditEvent"];
            meta: components["schemas"]["Meta"];
        };
        AuditEventPage: {
            data: components["schemas"]["AuditEvent"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        AuditExportEnd: {
            /** @enum {boolean} */
            complete: true;
            count: number;
        };
        /** @enum {string} */
        AuditProblemKind: "edited" | "deleted" | "inserted" | "reordered" | "truncated" | "checkpoint_mismatch";
        AuditVerification: {
            /** @description Events checked. */
            checked: number;
            /** @description The newest one kept here. */
            checkpoint: {
                /** Format: date-time */
                at: string;
                /** @description Of the event with this `seq`. */
                hash: string;
                /** @description Which key signed: GET /audit/checkpoints/key. */
                keyId: string;
                seq: number;
                /** @description Ed25519, base64. What it is made over: see ADR 020. */
                signature: string;
                workspaceId: string;
            } | null;
            checkpointsChecked: number;
            /** @description False: time ran out; go on with `nextCursor`. */
            complete: boolean;
            firstSeq: number | null;
            /**
             * @description Of the checkpoint handed in; with an unknown key only its hash is compared.
             * @enum {string|null}
             */
            givenSignature: "valid" | "unknown_key" | null;
            /** @description The end of the chain. */
            head: {
                /** Format: date-time */
                at: string;
                hash: string;
                seq: number;
            } | null;
            /** @description The last event found in order. */
            lastSeq: number | null;
            nextCursor: string | null;
            /** @description The first one. */
            problem: {
                /** @description Of the event found there, if there is one. */
                eventId: string | null;
                kind: components["schemas"]["AuditProblemKind"];
                /** @description Everything before it is in order. */
                seq: number;
            } | null;
            /** @description Nothing is wrong with what was checked. */
            valid: boolean;
        };
        AuditVerificationEnvelope: {
            data: components["schemas"]["AuditVerification"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "checkpoint": {
         *         "workspaceId": "ws_01KAM7Z4Q6V3N8W2X5Y9B1C0DE",
         *         "seq": 1000,
         *         "hash": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         *         "at": "2026-01-31T08:00:00.000Z",
         *         "keyId": "settings",
         *         "signature": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
         *       }
         *     }
         */
        AuditVerifyRequest: {
            checkpoint: {
                /** Format: date-time */
                at: string;
                /** @description Of the event with this `seq`. */
                hash: string;
                /** @description Which key signed: GET /audit/checkpoints/key. */
                keyId: string;
                seq: number;
                /** @description Ed25519, base64. What it is made over: see ADR 020. */
                signature: string;
                workspaceId: string;
            };
        };
        /** @enum {string} */
        CiAction: "edit" | "relate" | "activate" | "fail" | "repair" | "retire" | "delete";
        CiClass: {
            /** @description Every workspace has it. */
            builtIn: boolean;
            label: string;
            /** @example server */
            name: string;
            /**
             * @description JSON Schema of the attributes. Items already there are checked when they are next written.
             * @example {
             *       "type": "object",
             *       "properties": {
             *         "cores": {
             *           "type": "integer",
             *           "minimum": 1
             *         }
             *       }
             *     }
             */
            schema: {
                [key: string]: unknown;
            } | null;
        };
        CiClassEnvelope: {
            data: components["schemas"]["CiClass"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "label": "Notebook"
         *     }
         */
        CiClassPatch: {
            label?: string;
            /**
             * @description JSON Schema of the attributes. Items already there are checked when they are next written.
             * @example {
             *       "type": "object",
             *       "properties": {
             *         "cores": {
             *           "type": "integer",
             *           "minimum": 1
             *         }
             *       }
             *     }
             */
            schema?: {
                [key: string]: unknown;
            } | null;
        };
        CiImpact: {
            /** @description Nearest first. */
            affected: {
                class: string;
                criticality: components["schemas"]["Criticality"];
                /** @description Length of the shortest path. */
                hops: number;
                id: string;
                name: string;
                /** @description From a failing item to this one. */
                path: {
                    items: string[];
                    relations: string[];
                };
                status: components["schemas"]["CiStatus"];
            }[];
            failing: string[];
            /** @description The affected items of class `service`. */
            services: {
                class: string;
                criticality: components["schemas"]["Criticality"];
                hops: number;
                id: string;
                name: string;
                status: components["schemas"]["CiStatus"];
            }[];
            /** @description The walk ended at a limit; more may be affected. */
            truncated: boolean;
        };
        CiImpactEnvelope: {
            data: components["schemas"]["CiImpact"];
            meta: components["schemas"]["Meta"];
        };
        CiRelation: {
            /** Format: date-time */
            createdAt: string;
            createdBy: components["schemas"]["Actor"];
            id: string;
            sourceId: string;
            targetId: string;
            type: components["schemas"]["RelationType"];
        };
        CiRelationEnvelope: {
            data: components["schemas"]["CiRelation"];
            meta: components["schemas"]["Meta"];
        };
        CiRelationPage: {
            data: components["schemas"]["CiRelation"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /** @enum {string} */
        CiStatus: "planned" | "operational" | "non_operational" | "repair_in_progress" | "retired";
        /**
         * @example {
         *       "reason": "Disk replaced."
         *     }
         */
        CiStatusReason: {
            reason?: string;
        };
        CiTopology: {
            /** @description The greatest depth of a node; null without `around`. */
            depth: number | null;
            edges: {
                id: string;
                sourceId: string;
                targetId: string;
                type: components["schemas"]["RelationType"];
            }[];
            nodes: {
                class: string;
                criticality: components["schemas"]["Criticality"];
                /** @description Hops from `around`; null without it. */
                depth: number | null;
                id: string;
                name: string;
                status: components["schemas"]["CiStatus"];
            }[];
            /** @description There is more than fits the limit. */
            truncated: boolean;
        };
        CiTopologyEnvelope: {
            data: components["schemas"]["CiTopology"];
            meta: components["schemas"]["Meta"];
        };
        /** @example {} */
        CloseIncident: Record<string, never>;
        /**
         * @description `public`: the caller sees it. `internal`: a work note for agents.
         * @enum {string}
         */
        CommentVisibility: "public" | "internal";
        ConfigurationItem: {
            /** @description What the present status allows. */
            allowedActions: components["schemas"]["CiAction"][];
            /**
             * @description Checked against the schema of the class, if it has one.
             * @example {
             *       "cores": 8
             *     }
             */
            attributes: {
                [key: string]: unknown;
            };
            /** @example server */
            class: string;
            /** Format: date-time */
            createdAt: string;
            createdBy: components["schemas"]["Actor"];
            criticality: components["schemas"]["Criticality"];
            description: string | null;
            id: string;
            /**
             * Format: date-time
             * @description When its source last had it.
             */
            lastSeenAt: string | null;
            /** @example checkout-db-1 */
            name: string;
            /** @description Its key there; unique within the source. */
            nativeKey: string | null;
            /** @description Incidents about it that are open, in progress or on hold. Only when one item is read, as it is now. */
            openIncidents?: number;
            /**
             * @description User who answers for it.
             * @example usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F
             */
            owner: string | null;
            /**
             * @description By relation type, how many of the dependencies of this type must be up for the item to survive: a count (`minUp`) or a share (`minUpPercent`, rounded up). It needs all of them where nothing is said.
             * @example {
             *       "depends_on": {
             *         "minUp": 1
             *       }
             *     }
             */
            redundancy: {
                consumes_api?: components["schemas"]["Redundancy"];
                contains?: components["schemas"]["Redundancy"];
                depends_on?: components["schemas"]["Redundancy"];
                hosted_on?: components["schemas"]["Redundancy"];
                member_of?: components["schemas"]["Redundancy"];
                provides?: components["schemas"]["Redundancy"];
                runs_on?: components["schemas"]["Redundancy"];
            };
            /**
             * @description System it was read from.
             * @example aws
             */
            source: string | null;
            status: components["schemas"]["CiStatus"];
            /**
             * @description Team that looks after it.
             * @example payments
             */
            supportGroup: string | null;
            /** Format: date-time */
            updatedAt: string;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        ConfigurationItemEnvelope: {
            data: components["schemas"]["ConfigurationItem"];
            meta: components["schemas"]["Meta"];
        };
        ConfigurationItemPage: {
            data: components["schemas"]["ConfigurationItem"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "criticality": "high"
         *     }
         */
        ConfigurationItemPatch: {
            /**
             * @description Checked against the schema of the class, if it has one.
             * @example {
             *       "cores": 8
             *     }
             */
            attributes?: {
                [key: string]: unknown;
            };
            /** @example server */
            class?: string;
            criticality?: components["schemas"]["Criticality"];
            description?: string | null;
            /** Format: date-time */
            lastSeenAt?: string;
            /** @example checkout-db-1 */
            name?: string;
            /**
             * @description User who answers for it.
             * @example usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F
             */
            owner?: string | null;
            /**
             * @description By relation type, how many of the dependencies of this type must be up for the item to survive: a count (`minUp`) or a share (`minUpPercent`, rounded up). It needs all of them where nothing is said.
             * @example {
             *       "depends_on": {
             *         "minUp": 1
             *       }
             *     }
             */
            redundancy?: {
                consumes_api?: components["schemas"]["Redundancy"];
                contains?: components["schemas"]["Redundancy"];
                depends_on?: components["schemas"]["Redundancy"];
                hosted_on?: components["schemas"]["Redundancy"];
                member_of?: components["schemas"]["Redundancy"];
                provides?: components["schemas"]["Redundancy"];
                runs_on?: components["schemas"]["Redundancy"];
            };
            status?: components["schemas"]["CiStatus"];
            /**
             * @description Team that looks after it.
             * @example payments
             */
            supportGroup?: string | null;
        };
        /**
         * @example {
         *       "name": "incidents to the pager",
         *       "url": "https://pager.example.com/hooks/opsplane",
         *       "events": [
         *         "incident.*"
         *       ],
         *       "filter": {
         *         "data.severity": {
         *           "in": [
         *             "critical",
         *             "high"
         *           ]
         *         }
         *       }
         *     }
         */
        CreateWebhook: {
            /** @description Event types, `prefix.*`, `*`, or `audit.*` for the whole audit log. */
            events: string[];
            filter?: components["schemas"]["Filter"];
            /** @description Extra headers of each delivery; values may contain {{secrets.name}}. */
            headers?: {
                [key: string]: string;
            };
            name: string;
            /** @description Dotted path into the delivery body, such as `data.id`. Deliveries with the same value there are sent one after another in the order of their events; one that fails holds the next back until its retries are used up. */
            ordering_key?: string | null;
            /** @description Most attempts per second, over all replicas; 0.1 is one every ten seconds. What exceeds it waits. */
            rate_limit_per_second?: number | null;
            /** @description Default 3. */
            retries?: number;
            /** @description Default 3600000. */
            retry_max_delay_ms?: number;
            /** @description Seconds before each retry; the last one repeats. Replaces the strategy. */
            retry_schedule?: number[] | null;
            /**
             * @description Default exponential.
             * @enum {string}
             */
            retry_strategy?: "fixed" | "exponential";
            /** @description Alias of retry_max_delay_ms. */
            retryMaxDelayMs?: number;
            /**
             * @description Alias of retry_strategy.
             * @enum {string}
             */
            retryStrategy?: "fixed" | "exponential";
            /** @description Signing secret, write-only. Keys X-Service-Signature-256 as it is; for the Standard Webhooks signature a `whsec_` secret is base64-decoded first. */
            secret?: string | null;
            /**
             * @description Default active.
             * @enum {string}
             */
            status?: "active" | "paused";
            /** @description Default 10000. */
            timeout_ms?: number;
            /** @description Alias of timeout_ms. */
            timeoutMs?: number;
            /** @description Target; must be https. */
            url: string;
        };
        /**
         * @example {
         *       "email": "ada@example.com",
         *       "password": "correct horse battery staple"
         *     }
         */
        Credentials: {
            /** @example ada@example.com */
            email: string;
            password: string;
        };
        /** @enum {string} */
        Criticality: "critical" | "high" | "medium" | "low";
        Delivery: {
            attempts: number;
            createdAt: string;
            eventId: string;
            eventType: string;
            id: string;
            lastAttemptAt: string | null;
            lastDurationMs: number | null;
            lastError: {
                /** @enum {string} */
                kind: "status" | "timeout" | "dns" | "connect" | "tls" | "reset" | "protocol" | "blocked_address" | "secret_missing" | "webhook_deleted" | "event_missing";
                message: string;
            } | null;
            /** @description The first 16 KiB; the attempts have 64 KiB. */
            lastResponseBody: string | null;
            lastResponseStatus: number | null;
            /** @description When the next attempt is due; null also while others of the same ordering key come first. */
            nextAttemptAt: string | null;
            /** @description The delivery this one is a replay of. */
            replayOf: string | null;
            status: components["schemas"]["DeliveryStatus"];
            url: string;
            webhookId: string;
        };
        DeliveryAttempt: {
            durationMs: number;
            error: {
                /** @enum {string} */
                kind: "status" | "timeout" | "dns" | "connect" | "tls" | "reset" | "protocol" | "blocked_address" | "secret_missing" | "webhook_deleted" | "event_missing";
                message: string;
            } | null;
            number: number;
            requestHeaders: {
                [key: string]: string;
            };
            response: {
                /** @description The first 64 KiB. */
                body: string;
                headers: {
                    [key: string]: string;
                };
                status: number;
                truncated: boolean;
            } | null;
            startedAt: string;
            url: string;
        };
        DeliveryDetail: {
            attemptLog: components["schemas"]["DeliveryAttempt"][];
            attempts: number;
            createdAt: string;
            eventId: string;
            eventType: string;
            id: string;
            lastAttemptAt: string | null;
            lastDurationMs: number | null;
            lastError: {
                /** @enum {string} */
                kind: "status" | "timeout" | "dns" | "connect" | "tls" | "reset" | "protocol" | "blocked_address" | "secret_missing" | "webhook_deleted" | "event_missing";
                message: string;
            } | null;
            /** @description The first 16 KiB; the attempts have 64 KiB. */
            lastResponseBody: string | null;
            lastResponseStatus: number | null;
            /** @description When the next attempt is due; null also while others of the same ordering key come first. */
            nextAttemptAt: string | null;
            /** @description The delivery this one is a replay of. */
            replayOf: string | null;
            /** @description Of the last attempt; null before the first. */
            request: {
                /** @description The body as sent and signed. */
                body: string;
                headers: {
                    [key: string]: string;
                };
                /** @enum {string} */
                method: "POST";
                url: string;
            } | null;
            /** @description To the last attempt, where there was one. */
            response: {
                /** @description The first 64 KiB. */
                body: string;
                headers: {
                    [key: string]: string;
                };
                status: number;
                truncated: boolean;
            } | null;
            status: components["schemas"]["DeliveryStatus"];
            url: string;
            webhookId: string;
        };
        DeliveryDetailEnvelope: {
            data: components["schemas"]["DeliveryDetail"];
            meta: components["schemas"]["Meta"];
        };
        DeliveryEnvelope: {
            data: components["schemas"]["Delivery"];
            meta: components["schemas"]["Meta"];
        };
        DeliveryPage: {
            data: components["schemas"]["Delivery"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @description pending: not attempted yet, or not since a manual retry; retrying: a retry is due; held: its webhook is paused; failed: all retries exhausted.
         * @enum {string}
         */
        DeliveryStatus: "pending" | "retrying" | "succeeded" | "failed" | "held";
        ErrorDetail: {
            code: string;
            /** @enum {string} */
            in: "body" | "query" | "path" | "header";
            message: string;
            params?: {
                [key: string]: unknown;
            };
            /** @description JSON pointer to the offending value. */
            path: string;
        };
        ErrorEnvelope: {
            error: {
                /** @enum {string} */
                code: "malformed_json" | "malformed_url" | "invalid_cursor" | "workspace_required" | "idempotency_key_invalid" | "unauthenticated" | "invalid_token" | "token_expired" | "invalid_credentials" | "insufficient_scope" | "forbidden" | "workspace_forbidden" | "environment_forbidden" | "not_found" | "route_not_found" | "method_not_allowed" | "conflict" | "invalid_state_transition" | "version_conflict" | "idempotency_in_progress" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "idempotency_key_reused" | "precondition_required" | "rate_limited" | "headers_too_large" | "internal_error" | "upstream_error" | "service_unavailable" | "upstream_timeout";
                details: components["schemas"]["ErrorDetail"][];
                message: string;
                /** @description The same request may succeed when sent again. */
                retryable: boolean;
                status: number;
            };
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "severity": "critical",
         *       "reason": "The whole shop is affected."
         *     }
         */
        EscalateIncident: {
            /** @description Must be another team than the present one. */
            assignmentGroup?: string;
            reason?: string;
            /**
             * @description Must be graver than the present one.
             * @enum {string}
             */
            severity?: "critical" | "high" | "medium" | "low";
        };
        EventDescription: {
            description: string;
            /** @description A made-up event that passes the schema. */
            example: {
                [key: string]: unknown;
            };
            /** @example Incidents */
            group: string;
            /** @description JSON Schema (2020-12) of the whole event, with the `data` of this type. */
            schema: {
                [key: string]: unknown;
            };
            /** @example incident.created */
            type: string;
        };
        EventDescriptionEnvelope: {
            data: components["schemas"]["EventDescription"];
            meta: components["schemas"]["Meta"];
        };
        EventDescriptionPage: {
            data: components["schemas"]["EventDescription"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @default null
         * @example {
         *       "address": "203.0.113.7",
         *       "userAgent": "curl/8.14"
         *     }
         */
        EventSource: {
            /** @description IP address. */
            address: string;
            /** @description As the client says, cut at 256 characters. */
            userAgent: string;
        } | null;
        /** @description Conditions over dotted paths, all of which must hold. */
        Filter: {
            [key: string]: string | number | boolean | null | {
                contains?: string | number | boolean | null;
                exists?: boolean;
                gt?: number | string;
                gte?: number | string;
                in?: (string | number | boolean | null)[];
                lt?: number | string;
                lte?: number | string;
                ne?: string | number | boolean | null;
                nin?: (string | number | boolean | null)[];
                starts_with?: string;
            };
        } | null;
        GiveArticleFeedbackEnvelope: {
            data: {
                helpful: boolean;
            };
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "itemIds": [
         *         "ci_01JZ8Q4D3N5W7X9Y2B4C6D8E0F"
         *       ]
         *     }
         */
        ImpactQuestion: {
            /** @description Items that fail at once. */
            itemIds: string[];
        };
        Incident: {
            /** @description What the present status allows. */
            allowedActions: components["schemas"]["IncidentAction"][];
            /**
             * @description User who works on it.
             * @example usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F
             */
            assigneeId: string | null;
            /**
             * @description Team it lies with.
             * @example payments
             */
            assignmentGroup: string | null;
            /** @description Who is affected and asked for help. */
            callerId: string | null;
            /** @example availability */
            category: string | null;
            /** @default null */
            causedByChangeId?: string | null;
            /**
             * @description The change that will mend it.
             * @default null
             */
            changeId?: string | null;
            /** @default 0 */
            childCount?: number;
            /** @description Configuration item affected. */
            ciId: string | null;
            /**
             * Format: date-time
             * @description When it was closed or canceled.
             */
            closedAt: string | null;
            commentCount: number;
            /** Format: date-time */
            createdAt: string;
            createdBy: components["schemas"]["Actor"];
            /**
             * @description Of the alert that opened it.
             * @default null
             */
            dedupKey?: string | null;
            /** @description What is seen, in Markdown. */
            description: string | null;
            /** @description How often it was escalated. */
            escalationLevel: number;
            /**
             * @description Set exactly while on hold.
             * @enum {string|null}
             */
            holdReason: "awaiting_caller" | "awaiting_change" | "awaiting_problem" | "awaiting_vendor" | null;
            id: string;
            /**
             * @default medium
             * @enum {string}
             */
            impact?: "high" | "medium" | "low";
            /**
             * @default none
             * @enum {string}
             */
            majorState?: "none" | "proposed" | "accepted" | "rejected" | "demoted";
            /**
             * @description Unique in the workspace, increasing.
             * @example INC-42
             */
            number: string;
            /** @default null */
            parentId?: string | null;
            /**
             * @description By impact and urgency, unless it was overridden.
             * @default P3
             * @enum {string}
             */
            priority?: "P1" | "P2" | "P3" | "P4" | "P5";
            /** @default null */
            priorityOverride?: {
                /** Format: date-time */
                at: string;
                by: components["schemas"]["Actor"];
                /** @enum {string} */
                priority: "P1" | "P2" | "P3" | "P4" | "P5";
                reason: string;
            } | null;
            /** @default null */
            problemId?: string | null;
            reopenCount: number;
            /** @enum {string|null} */
            resolutionCode: "fixed" | "workaround" | "duplicate" | "not_reproducible" | "user_error" | "no_fault_found" | "other" | null;
            resolutionNotes: string | null;
            /** Format: date-time */
            resolvedAt: string | null;
            severity: components["schemas"]["Severity"];
            status: components["schemas"]["IncidentStatus"];
            /**
             * @description Repeated ones are dropped.
             * @example [
             *       "checkout"
             *     ]
             */
            tags: string[];
            /** @example Checkout answers 502 */
            title: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * @default medium
             * @enum {string}
             */
            urgency?: "high" | "medium" | "low";
            /** @description Also the ETag; send it as If-Match. */
            version: number;
            /**
             * @description Users who follow it.
             * @default []
             */
            watcherIds?: string[];
        };
        /** @enum {string} */
        IncidentAction: "edit" | "assign" | "escalate" | "comment" | "start" | "hold" | "resume" | "resolve" | "reopen" | "close" | "cancel";
        IncidentComment: {
            author: components["schemas"]["Actor"];
            body: string;
            /** Format: date-time */
            createdAt: string;
            id: string;
            incidentId: string;
            /** Format: date-time */
            updatedAt: string;
            visibility: components["schemas"]["CommentVisibility"];
        };
        IncidentCommentEnvelope: {
            data: components["schemas"]["IncidentComment"];
            meta: components["schemas"]["Meta"];
        };
        IncidentCommentPage: {
            data: components["schemas"]["IncidentComment"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        IncidentEnvelope: {
            data: components["schemas"]["Incident"];
            meta: components["schemas"]["Meta"];
        };
        IncidentPage: {
            data: components["schemas"]["Incident"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "assignmentGroup": "payments",
         *       "severity": "critical"
         *     }
         */
        IncidentPatch: {
            /**
             * @description User who works on it.
             * @example usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F
             */
            assigneeId?: string | null;
            /**
             * @description Team it lies with.
             * @example payments
             */
            assignmentGroup?: string | null;
            /** @description Who is affected and asked for help. */
            callerId?: string | null;
            /** @example availability */
            category?: string | null;
            /** @description Configuration item affected. */
            ciId?: string | null;
            /** @description What is seen, in Markdown. */
            description?: string | null;
            /**
             * @description Required with `status: on_hold`.
             * @enum {string}
             */
            holdReason?: "awaiting_caller" | "awaiting_change" | "awaiting_problem" | "awaiting_vendor";
            /** @enum {string} */
            resolutionCode?: "fixed" | "workaround" | "duplicate" | "not_reproducible" | "user_error" | "no_fault_found" | "other";
            /** @example Raised the pool limit. */
            resolutionNotes?: string;
            severity?: components["schemas"]["Severity"];
            status?: components["schemas"]["IncidentStatus"];
            /**
             * @description Repeated ones are dropped.
             * @example [
             *       "checkout"
             *     ]
             */
            tags?: string[];
            /** @example Checkout answers 502 */
            title?: string;
        };
        IncidentSla: {
            /** Format: date-time */
            asOf: string;
            timers: {
                breached: boolean;
                /** Format: date-time */
                breachedAt: string | null;
                calendarId: string | null;
                calendarRevision: number | null;
                /** Format: date-time */
                createdAt: string;
                /** @description Counts the goals the clock has had. */
                cycle: number;
                /**
                 * Format: date-time
                 * @description Null while paused.
                 */
                dueAt: string | null;
                elapsedMs: number;
                entityId: string;
                entityNumber: string;
                /** @enum {string} */
                entityType: "incident";
                fired: {
                    /** Format: date-time */
                    at: string;
                    cycle: number;
                    percent: number;
                }[];
                goalMs: number;
                id: string;
                /** @description Of the incident event last heeded. */
                incidentVersion: number;
                intervals: components["schemas"]["SlaInterval"][];
                metric: components["schemas"]["SlaMetric"];
                /**
                 * Format: date-time
                 * @description The next warning or breach.
                 */
                nextFireAt: string | null;
                policyId: string;
                policyName: string;
                policyRevision: number;
                /** @description Negative once overdue. */
                remainingMs: number;
                severity: components["schemas"]["Severity"];
                /** Format: date-time */
                startedAt: string;
                state: components["schemas"]["SlaClockState"];
                /** Format: date-time */
                updatedAt: string;
            }[];
        };
        IncidentSlaEnvelope: {
            data: components["schemas"]["IncidentSla"];
            meta: components["schemas"]["Meta"];
        };
        /** @enum {string} */
        IncidentStatus: "open" | "in_progress" | "on_hold" | "resolved" | "closed" | "canceled";
        Invitation: {
            /** @example /api/v1/auth/invitations/accept */
            acceptPath: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description Whether the token goes to the person by mail. */
            mailed: boolean;
            /** @description Shown this once, to hand on to the invited person. Null when it was mailed, and when the answer is replayed by Idempotency-Key. */
            token: string | null;
        };
        /**
         * @example {
         *       "token": "ops_inv_…",
         *       "name": "Grace",
         *       "password": "correct horse battery staple"
         *     }
         */
        InvitationAcceptance: {
            /**
             * @description Of a new login; one that exists keeps its own.
             * @example Ada Lovelace
             */
            name?: string;
            /** @description Of a new login: its password from now on. Of one that exists: its present password. */
            password?: string;
            token: string;
        };
        InvitedUser: {
            /** @description What the present status allows. */
            allowedActions: components["schemas"]["UserAction"][];
            /** Format: date-time */
            createdAt: string;
            email: string;
            id: string;
            invitation: components["schemas"]["Invitation"];
            /**
             * Format: date-time
             * @description Set while the user is invited.
             */
            invitationExpiresAt: string | null;
            name: string;
            /**
             * @description Name of a role.
             * @example developer
             */
            role: string;
            status: components["schemas"]["MembershipStatus"];
            /** Format: date-time */
            updatedAt: string;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        InvitedUserEnvelope: {
            data: components["schemas"]["InvitedUser"];
            meta: components["schemas"]["Meta"];
        };
        KnowledgeHit: {
            articleVersion: number;
            category: string | null;
            /** @description HTML in which only `<mark>` is markup; everything else is escaped. */
            highlights: {
                body: string;
                title: string;
            };
            id: string;
            language: string;
            number: string;
            /** @description Place in each list the result was made of; null where it was not found. */
            ranks: {
                exact: number | null;
                text: number | null;
                trigram: number | null;
                vector: number | null;
            };
            score: number;
            /** @description Plain text around the first match. */
            snippet: string;
            summary: string | null;
            tags: string[];
            title: string;
        };
        KnowledgeResults: {
            meta: {
                /** @description Why a better mode was not used, such as `embeddings_timeout`. */
                degraded: string | null;
                searchMode: components["schemas"]["SearchMode"];
            };
            results: components["schemas"]["KnowledgeHit"][];
        };
        KnowledgeResultsEnvelope: {
            data: components["schemas"]["KnowledgeResults"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "query": "cannot reach the office network from home"
         *     }
         */
        KnowledgeSearch: {
            /** @default {} */
            filters?: {
                category?: string;
                /**
                 * @description ISO 639-1 code; decides how the text is searched.
                 * @example en
                 */
                language?: string;
                tag?: string;
            };
            /** @default 10 */
            limit?: number;
            /**
             * @description `lexical` leaves the vectors out; the others use the best there are.
             * @default auto
             * @enum {string}
             */
            mode?: "auto" | "lexical" | "hybrid";
            /** @example cannot reach the office network from home */
            query: string;
        };
        ListCiClassesEnvelope: {
            data: components["schemas"]["CiClass"][];
            meta: components["schemas"]["Meta"];
        };
        Me: {
            credential: {
                /** Format: date-time */
                expiresAt: string | null;
                id: string;
                /** @enum {string} */
                kind: "session" | "api_key";
                name: string | null;
            };
            /** @enum {string|null} */
            environment: "production" | "staging" | "development" | null;
            permissions: string[];
            user: components["schemas"]["Account"];
            /** @description Null without X-Workspace. */
            workspace: {
                /** Format: date-time */
                createdAt: string;
                id: string;
                name: string;
                /**
                 * @description Name of a role.
                 * @example developer
                 */
                role: string;
                settings: components["schemas"]["WorkspaceSettings"];
                /** @example acme */
                slug: string;
                /** Format: date-time */
                updatedAt: string;
                /** @description Also the ETag; send it as If-Match. */
                version: number;
            } | null;
        };
        MeEnvelope: {
            data: components["schemas"]["Me"];
            meta: components["schemas"]["Meta"];
        };
        /** @enum {string} */
        MembershipStatus: "invited" | "active" | "suspended" | "deactivated";
        Meta: {
            requestId: string;
        };
        /**
         * @example {
         *       "title": "The VPN does not connect",
         *       "body": "Check the network first. Then sign in to the VPN client again.",
         *       "tags": [
         *         "vpn"
         *       ]
         *     }
         */
        NewArticle: {
            body: string;
            /**
             * @default null
             * @example network
             */
            category?: string | null;
            /**
             * @description ISO 639-1 code; decides how the text is searched.
             * @default en
             * @example en
             */
            language?: string;
            /**
             * @description Incident it was learnt from.
             * @default null
             */
            sourceIncidentId?: string | null;
            /**
             * @description Problem it was learnt from.
             * @default null
             */
            sourceProblemId?: string | null;
            /**
             * @description What it helps with, in a sentence.
             * @default null
             */
            summary?: string | null;
            /**
             * @description Repeated ones are dropped.
             * @default []
             * @example [
             *       "vpn"
             *     ]
             */
            tags?: string[];
            /** @example VPN does not connect from home */
            title: string;
            /**
             * Format: date-time
             * @description From then on search and readers no longer get it.
             * @default null
             */
            validUntil?: string | null;
            visibility?: components["schemas"]["ArticleVisibility"];
        };
        /**
         * @example {
         *       "name": "laptop",
         *       "label": "Laptop"
         *     }
         */
        NewCiClass: {
            label: string;
            /** @example server */
            name: string;
            /**
             * @description JSON Schema of the attributes. Items already there are checked when they are next written.
             * @default null
             * @example {
             *       "type": "object",
             *       "properties": {
             *         "cores": {
             *           "type": "integer",
             *           "minimum": 1
             *         }
             *       }
             *     }
             */
            schema?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @example {
         *       "sourceId": "ci_01JZ8Q4D3N5W7X9Y2B4C6D8E0F",
         *       "targetId": "ci_01JZ8Q4D3N5W7X9Y2B4C6D8E0G",
         *       "type": "depends_on"
         *     }
         */
        NewCiRelation: {
            sourceId: string;
            targetId: string;
            type: components["schemas"]["RelationType"];
        };
        /**
         * @example {
         *       "class": "server",
         *       "name": "web-1"
         *     }
         */
        NewConfigurationItem: {
            /**
             * @description Checked against the schema of the class, if it has one.
             * @default {}
             * @example {
             *       "cores": 8
             *     }
             */
            attributes?: {
                [key: string]: unknown;
            };
            /** @example server */
            class: string;
            criticality?: components["schemas"]["Criticality"];
            description?: string | null;
            /** Format: date-time */
            lastSeenAt?: string;
            /** @example checkout-db-1 */
            name: string;
            nativeKey?: string;
            /**
             * @description User who answers for it.
             * @example usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F
             */
            owner?: string | null;
            /**
             * @description By relation type, how many of the dependencies of this type must be up for the item to survive: a count (`minUp`) or a share (`minUpPercent`, rounded up). It needs all of them where nothing is said.
             * @default {}
             * @example {
             *       "depends_on": {
             *         "minUp": 1
             *       }
             *     }
             */
            redundancy?: {
                consumes_api?: components["schemas"]["Redundancy"];
                contains?: components["schemas"]["Redundancy"];
                depends_on?: components["schemas"]["Redundancy"];
                hosted_on?: components["schemas"]["Redundancy"];
                member_of?: components["schemas"]["Redundancy"];
                provides?: components["schemas"]["Redundancy"];
                runs_on?: components["schemas"]["Redundancy"];
            };
            source?: string;
            /**
             * @default planned
             * @enum {string}
             */
            status?: "planned" | "operational";
            /**
             * @description Team that looks after it.
             * @example payments
             */
            supportGroup?: string | null;
        };
        /**
         * @example {
         *       "title": "Checkout answers 502",
         *       "severity": "high",
         *       "assignmentGroup": "payments",
         *       "tags": [
         *         "checkout"
         *       ]
         *     }
         */
        NewIncident: {
            /**
             * @description User who works on it.
             * @example usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F
             */
            assigneeId?: string | null;
            /**
             * @description Team it lies with.
             * @example payments
             */
            assignmentGroup?: string | null;
            /** @description Who is affected and asked for help. */
            callerId?: string | null;
            /** @example availability */
            category?: string | null;
            /** @description Configuration item affected. */
            ciId?: string | null;
            /** @description What is seen, in Markdown. */
            description?: string | null;
            /**
             * @description How grave it is.
             * @default medium
             * @enum {string}
             */
            severity?: "critical" | "high" | "medium" | "low";
            /**
             * @description Repeated ones are dropped.
             * @default []
             * @example [
             *       "checkout"
             *     ]
             */
            tags?: string[];
            /** @example Checkout answers 502 */
            title: string;
        };
        /**
         * @example {
         *       "body": "Looking at it.",
         *       "visibility": "internal"
         *     }
         */
        NewIncidentComment: {
            body: string;
            /**
             * @description `internal` makes it a work note.
             * @default public
             * @enum {string}
             */
            visibility?: "public" | "internal";
        };
        /**
         * @example {
         *       "email": "grace@example.com",
         *       "role": "agent",
         *       "name": "Grace"
         *     }
         */
        NewInvitation: {
            /** @example ada@example.com */
            email: string;
            /** @default 168 */
            expiresInHours?: number;
            /**
             * @description Shown until the person has accepted.
             * @example Ada Lovelace
             */
            name?: string;
            /**
             * @description Name of a role.
             * @example developer
             */
            role: string;
        };
        /**
         * @example {
         *       "name": "auditor",
         *       "permissions": [
         *         "audit:read"
         *       ]
         *     }
         */
        NewRole: {
            /** @default  */
            description?: string;
            /** @example release-manager */
            name: string;
            /**
             * @description None beyond what the caller may do.
             * @example [
             *       "itsm:read",
             *       "itsm:write"
             *     ]
             */
            permissions: components["schemas"]["Permission"][];
        };
        /**
         * @example {
         *       "name": "payment_api_key",
         *       "value": "the secret itself"
         *     }
         */
        NewSecret: {
            /** @example payment_api_key */
            name: string;
            value: string;
        };
        /**
         * @example {
         *       "name": "Office hours",
         *       "timeZone": "Europe/Berlin",
         *       "week": {
         *         "monday": [
         *           {
         *             "from": "09:00",
         *             "to": "17:30"
         *           }
         *         ],
         *         "tuesday": [
         *           {
         *             "from": "09:00",
         *             "to": "17:30"
         *           }
         *         ]
         *       },
         *       "holidays": [
         *         {
         *           "date": "2026-12-25",
         *           "yearly": true,
         *           "name": "Christmas"
         *         }
         *       ]
         *     }
         */
        NewSlaCalendar: {
            /** @default [] */
            exceptions?: {
                /** Format: date */
                date: string;
                hours: components["schemas"]["SlaHours"][];
            }[];
            /** @default [] */
            holidays?: {
                /** Format: date */
                date: string;
                /** @default  */
                name?: string;
                /** @default false */
                yearly?: boolean;
            }[];
            name: string;
            /**
             * @description IANA name.
             * @example Europe/Berlin
             */
            timeZone: string;
            /**
             * @description Hours by weekday; a day left out is closed.
             * @example {
             *       "monday": []
             *     }
             */
            week: {
                friday?: components["schemas"]["SlaHours"][];
                monday?: components["schemas"]["SlaHours"][];
                saturday?: components["schemas"]["SlaHours"][];
                sunday?: components["schemas"]["SlaHours"][];
                thursday?: components["schemas"]["SlaHours"][];
                tuesday?: components["schemas"]["SlaHours"][];
                wednesday?: components["schemas"]["SlaHours"][];
            };
        };
        /**
         * @example {
         *       "name": "Gold",
         *       "metric": "resolution",
         *       "goals": {
         *         "critical": 60,
         *         "high": 240
         *       }
         *     }
         */
        NewSlaPolicy: {
            /**
             * @description Null: around the clock.
             * @default null
             * @example null
             */
            calendarId?: string | null;
            /**
             * @description Over the incident; all must hold.
             * @default {}
             * @example {
             *       "category": "vip"
             *     }
             */
            conditions?: {
                [key: string]: string | number | boolean | null | {
                    contains?: string | number | boolean | null;
                    exists?: boolean;
                    gt?: number | string;
                    gte?: number | string;
                    in?: (string | number | boolean | null)[];
                    lt?: number | string;
                    lte?: number | string;
                    ne?: string | number | boolean | null;
                    nin?: (string | number | boolean | null)[];
                    starts_with?: string;
                };
            };
            /**
             * @default incident
             * @enum {string}
             */
            entityType?: "incident";
            /**
             * @description Minutes of open hours by severity.
             * @example {
             *       "critical": 60,
             *       "high": 240
             *     }
             */
            goals: {
                critical?: number;
                high?: number;
                low?: number;
                medium?: number;
            };
            metric: components["schemas"]["SlaMetric"];
            /** @example Gold */
            name: string;
            /**
             * @description Hold reasons that stop the clock.
             * @default [
             *       "awaiting_caller",
             *       "awaiting_vendor"
             *     ]
             */
            pauseReasons?: ("awaiting_caller" | "awaiting_change" | "awaiting_problem" | "awaiting_vendor")[];
            /**
             * @description An inactive one starts no clocks.
             * @default active
             * @enum {string}
             */
            status?: "active" | "inactive";
            /**
             * @description Percent of the goal at which to warn.
             * @default [
             *       50,
             *       75,
             *       90
             *     ]
             * @example [
             *       50,
             *       75,
             *       90
             *     ]
             */
            warnings?: number[];
        };
        /**
         * @example {
         *       "name": "monitoring",
         *       "scopes": [
         *         "itsm:read",
         *         "itsm:write"
         *       ],
         *       "environments": [
         *         "production"
         *       ]
         *     }
         */
        NewToken: {
            /** @description Absent: every one. */
            environments?: ("production" | "staging" | "development")[];
            /**
             * Format: date-time
             * @example 2030-01-01T00:00:00.000Z
             */
            expiresAt?: string;
            name: string;
            /** @description None beyond what the caller may do. */
            scopes: components["schemas"]["Permission"][];
        };
        Notification: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            /** @enum {string} */
            environment: "production" | "staging" | "development";
            /** @description The event it tells of, as in the audit log. */
            eventId: string;
            id: string;
            /** @description What happened, and what to do next. */
            message: string;
            /**
             * Format: date-time
             * @description When the calling user marked it as read.
             */
            readAt: string | null;
            /** @description What it is about. */
            resource: {
                displayName: string;
                id: string;
                type: string;
            };
            /** @enum {string} */
            severity: "info" | "warning" | "critical";
            title: string;
            /**
             * @description Type of the event it tells of.
             * @example webhook.paused
             */
            type: string;
        };
        NotificationEnvelope: {
            data: components["schemas"]["Notification"];
            meta: components["schemas"]["Meta"];
        };
        NotificationPage: {
            data: components["schemas"]["Notification"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        Pagination: {
            hasMore: boolean;
            limit: number;
            nextCursor: string | null;
        };
        /** @enum {string} */
        Permission: "workspace:read" | "workspace:write" | "users:read" | "users:write" | "owners:manage" | "roles:read" | "roles:write" | "tokens:manage" | "secrets:read" | "secrets:write" | "audit:read" | "notifications:read" | "notifications:write" | "itsm:read" | "itsm:write" | "itsm:approve" | "itsm:manage" | "cmdb:read" | "cmdb:write" | "sla:write" | "knowledge:read" | "knowledge:write" | "catalog:read" | "catalog:request" | "catalog:write" | "webhooks:read" | "webhooks:write" | "topics:read" | "topics:write" | "events:read";
        PublishedTopicEvent: {
            /** Format: date-time */
            createdAt: string;
            /** @description True when this was suppressed: `id`, `type` and `createdAt` are those of the earlier event. */
            deduplicated: boolean;
            id: string;
            topic: string;
            type: string;
        };
        PublishedTopicEventEnvelope: {
            data: components["schemas"]["PublishedTopicEvent"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "type": "order.created",
         *       "payload": {
         *         "amount": 5
         *       },
         *       "deduplicationKey": "o-1"
         *     }
         */
        PublishTopicEvent: {
            /** @description An event with the key of one of the last 5 minutes on this topic is suppressed. */
            deduplicationKey?: string;
            /** @description Any JSON object. */
            payload: {
                [key: string]: unknown;
            };
            /** @description Free-form event type. */
            type: string;
        };
        /**
         * @example {
         *       "dryRun": true
         *     }
         */
        ReapplySla: {
            /** @default true */
            dryRun?: boolean;
        };
        /**
         * @example {
         *       "minUp": 1
         *     }
         */
        Redundancy: {
            minUp: number;
        } | {
            minUpPercent: number;
        };
        /**
         * @example {
         *       "reason": "The second step is out of date."
         *     }
         */
        RejectArticle: {
            reason: string;
        };
        /**
         * @description Read "source … target". A failing target takes the source of depends_on, runs_on, hosted_on and consumes_api with it; a failing source the target of contains, member_of and provides. The others pass nothing on.
         * @enum {string}
         */
        RelationType: "depends_on" | "runs_on" | "hosted_on" | "consumes_api" | "contains" | "member_of" | "provides" | "connects_to" | "manages" | "owned_by";
        /**
         * @example {
         *       "reason": "It happens again."
         *     }
         */
        ReopenIncident: {
            reason?: string;
        };
        /**
         * @example {
         *       "status": "failed",
         *       "from": "2026-01-01T00:00:00.000Z",
         *       "dryRun": true
         *     }
         */
        ReplayDeliveries: {
            /**
             * @description Only count.
             * @default false
             */
            dryRun?: boolean;
            eventType?: string;
            /**
             * Format: date-time
             * @description Created at this time or later.
             */
            from?: string;
            /**
             * @description One or several of failed and succeeded. Default failed.
             * @default [
             *       "failed"
             *     ]
             */
            status?: ("failed" | "succeeded") | ("failed" | "succeeded")[];
            /**
             * Format: date-time
             * @description Created before this time. Default now.
             */
            to?: string;
        };
        ReplayJob: {
            createdAt: string;
            filter: {
                eventType: string | null;
                from: string | null;
                status: ("failed" | "succeeded")[];
                to: string;
            };
            finishedAt: string | null;
            id: string;
            /** @description Replays made so far. */
            replayed: number;
            /** @enum {string} */
            status: "running" | "completed" | "canceled";
            /** @description Deliveries that matched when the job was made. */
            total: number;
            webhookId: string;
        };
        ReplayJobEnvelope: {
            data: components["schemas"]["ReplayJob"];
            meta: components["schemas"]["Meta"];
        };
        ReplayJobPage: {
            data: components["schemas"]["ReplayJob"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        ReplayStarted: {
            /** @description Deliveries that match. */
            count: number;
            dryRun: boolean;
            /** @description Null for a dry run. */
            job: {
                createdAt: string;
                filter: {
                    eventType: string | null;
                    from: string | null;
                    status: ("failed" | "succeeded")[];
                    to: string;
                };
                finishedAt: string | null;
                id: string;
                /** @description Replays made so far. */
                replayed: number;
                /** @enum {string} */
                status: "running" | "completed" | "canceled";
                /** @description Deliveries that matched when the job was made. */
                total: number;
                webhookId: string;
            } | null;
        };
        ReplayStartedEnvelope: {
            data: components["schemas"]["ReplayStarted"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "resolutionCode": "fixed",
         *       "resolutionNotes": "Raised the pool limit."
         *     }
         */
        ResolveIncident: {
            /** @enum {string} */
            resolutionCode?: "fixed" | "workaround" | "duplicate" | "not_reproducible" | "user_error" | "no_fault_found" | "other";
            /** @example Raised the pool limit. */
            resolutionNotes?: string;
        };
        /** @enum {string|null} */
        RevocationReason: "requested" | "reuse_detected" | "user_removed" | null;
        Role: {
            /** @description Built-in roles are the same everywhere and cannot be changed. */
            builtIn: boolean;
            /** Format: date-time */
            createdAt: string | null;
            description: string;
            /** @description Null for a built-in role. */
            id: string | null;
            /** @description Users with this role who are not deactivated. */
            members: number;
            /** @example release-manager */
            name: string;
            permissions: components["schemas"]["Permission"][];
            /** Format: date-time */
            updatedAt: string | null;
            /** @description Also the ETag; send it as If-Match. */
            version: number | null;
        };
        RoleEnvelope: {
            data: components["schemas"]["Role"];
            meta: components["schemas"]["Meta"];
        };
        RolePage: {
            data: components["schemas"]["Role"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "permissions": [
         *         "audit:read",
         *         "events:read"
         *       ]
         *     }
         */
        RolePatch: {
            description?: string;
            /**
             * @description None beyond what the caller may do.
             * @example [
             *       "itsm:read",
             *       "itsm:write"
             *     ]
             */
            permissions?: components["schemas"]["Permission"][];
        };
        RotatedWebhook: {
            /** @description Deliveries failed on every attempt since the last success or resume. */
            consecutive_failures: number;
            created_at: string;
            /** @enum {string} */
            environment: "production" | "staging" | "development";
            events: string[];
            filter: components["schemas"]["Filter"];
            has_secret: boolean;
            headers: {
                [key: string]: string;
            };
            id: string;
            name: string;
            ordering_key: string | null;
            /** @description When the replaced secret stops being valid. */
            overlap_until: string | null;
            /** @enum {string|null} */
            paused_reason: "user" | "consecutive_failures" | "gone" | null;
            rate_limit_per_second: number | null;
            retries: number;
            retry_max_delay_ms: number;
            retry_schedule: number[] | null;
            /** @enum {string} */
            retry_strategy: "fixed" | "exponential";
            /** @description The secret made here, shown this once. Null when it was given, and on a replay. */
            secret: string | null;
            /** @enum {string} */
            status: "active" | "paused";
            timeout_ms: number;
            updated_at: string;
            /** @description Target; must be https. */
            url: string;
            version: number;
        };
        RotatedWebhookEnvelope: {
            data: components["schemas"]["RotatedWebhook"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @default {
         *       "overlapSeconds": 86400
         *     }
         * @example {
         *       "overlapSeconds": 3600
         *     }
         */
        RotateWebhookSecret: {
            /**
             * @description How long the replaced secret stays valid. 0 ends it, and every earlier one whose overlap is running, at once.
             * @default 86400
             */
            overlapSeconds?: number;
            /** @description The new secret, write-only. Absent: one is made and shown once. */
            secret?: string;
        };
        /** @enum {string} */
        SearchMode: "lexical" | "hybrid_corpus" | "hybrid_embeddings";
        Secret: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            /** @example payment_api_key */
            name: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        SecretEnvelope: {
            data: components["schemas"]["Secret"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "value": "the new secret"
         *     }
         */
        SecretRotation: {
            value: string;
        };
        Session: {
            /** @description Send it as `Authorization: Bearer …`. */
            accessToken: string;
            /**
             * Format: date-time
             * @description Absolute end; the session also ends when it lies idle.
             */
            expiresAt: string;
            /** @enum {string} */
            tokenType: "Bearer";
            user: components["schemas"]["Account"];
            /** @description The first 200 the user can enter. */
            workspaces: components["schemas"]["WorkspaceAccess"][];
        };
        SessionEnvelope: {
            data: components["schemas"]["Session"];
            meta: components["schemas"]["Meta"];
        };
        /** @enum {string} */
        Severity: "critical" | "high" | "medium" | "low";
        SlaCalendar: {
            /** Format: date-time */
            createdAt: string;
            /** @description Dates with other hours. They go before holidays. */
            exceptions: {
                /** Format: date */
                date: string;
                hours: components["schemas"]["SlaHours"][];
            }[];
            /** @description Closed dates; a yearly one returns on its month and day. */
            holidays: {
                /** Format: date */
                date: string;
                name: string;
                yearly: boolean;
            }[];
            id: string;
            /** @example Office hours */
            name: string;
            revision: number;
            /**
             * @description IANA name.
             * @example Europe/Berlin
             */
            timeZone: string;
            /** Format: date-time */
            updatedAt: string;
            version: number;
            /**
             * @description Hours by weekday; a day left out is closed.
             * @example {
             *       "monday": []
             *     }
             */
            week: {
                friday?: components["schemas"]["SlaHours"][];
                monday?: components["schemas"]["SlaHours"][];
                saturday?: components["schemas"]["SlaHours"][];
                sunday?: components["schemas"]["SlaHours"][];
                thursday?: components["schemas"]["SlaHours"][];
                tuesday?: components["schemas"]["SlaHours"][];
                wednesday?: components["schemas"]["SlaHours"][];
            };
        };
        SlaCalendarEnvelope: {
            data: components["schemas"]["SlaCalendar"];
            meta: components["schemas"]["Meta"];
        };
        SlaCalendarPage: {
            data: components["schemas"]["SlaCalendar"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "timeZone": "Europe/Paris"
         *     }
         */
        SlaCalendarPatch: {
            exceptions?: {
                /** Format: date */
                date: string;
                hours: components["schemas"]["SlaHours"][];
            }[];
            holidays?: {
                /** Format: date */
                date: string;
                /** @default  */
                name?: string;
                /** @default false */
                yearly?: boolean;
            }[];
            name?: string;
            /**
             * @description IANA name.
             * @example Europe/Berlin
             */
            timeZone?: string;
            /**
             * @description Hours by weekday; a day left out is closed.
             * @example {
             *       "monday": []
             *     }
             */
            week?: {
                friday?: components["schemas"]["SlaHours"][];
                monday?: components["schemas"]["SlaHours"][];
                saturday?: components["schemas"]["SlaHours"][];
                sunday?: components["schemas"]["SlaHours"][];
                thursday?: components["schemas"]["SlaHours"][];
                tuesday?: components["schemas"]["SlaHours"][];
                wednesday?: components["schemas"]["SlaHours"][];
            };
        };
        /** @enum {string} */
        SlaClockState: "running" | "paused" | "completed" | "canceled";
        /** @description Open from, to before; in the wall-clock time of the calendar. */
        SlaHours: {
            /** @example 09:00 */
            from: string;
            /** @example 17:30 */
            to: string | "24:00";
        };
        SlaInterval: {
            /** @description What it adds to the elapsed time. */
            countedMs: number;
            eventId: string;
            /** Format: date-time */
            from: string;
            reason: string | null;
            state: components["schemas"]["SlaClockState"] | "closed";
            /** Format: date-time */
            to: string;
        };
        /**
         * @description `response` ends with an assignee, a public comment by anyone but the caller, or another status than open. `resolution` ends when the incident is resolved and goes on when it is reopened.
         * @enum {string}
         */
        SlaMetric: "response" | "resolution";
        SlaPolicy: {
            /**
             * Format: date-time
             * @description Incidents opened before have no clock of this policy.
             */
            activeSince: string | null;
            /**
             * @description Null: around the clock.
             * @example null
             */
            calendarId: string | null;
            /**
             * @description Over the incident; all must hold.
             * @example {
             *       "category": "vip"
             *     }
             */
            conditions: {
                [key: string]: string | number | boolean | null | {
                    contains?: string | number | boolean | null;
                    exists?: boolean;
                    gt?: number | string;
                    gte?: number | string;
                    in?: (string | number | boolean | null)[];
                    lt?: number | string;
                    lte?: number | string;
                    ne?: string | number | boolean | null;
                    nin?: (string | number | boolean | null)[];
                    starts_with?: string;
                };
            };
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            entityType: "incident";
            /**
             * @description Minutes of open hours by severity.
             * @example {
             *       "critical": 60,
             *       "high": 240
             *     }
             */
            goals: {
                critical?: number;
                high?: number;
                low?: number;
                medium?: number;
            };
            id: string;
            metric: components["schemas"]["SlaMetric"];
            /** @example Gold */
            name: string;
            /** @description Hold reasons that stop the clock. */
            pauseReasons: ("awaiting_caller" | "awaiting_change" | "awaiting_problem" | "awaiting_vendor")[];
            revision: number;
            /**
             * @description An inactive one starts no clocks.
             * @enum {string}
             */
            status: "active" | "inactive";
            /** Format: date-time */
            updatedAt: string;
            version: number;
            /**
             * @description Percent of the goal at which to warn.
             * @example [
             *       50,
             *       75,
             *       90
             *     ]
             */
            warnings: number[];
        };
        SlaPolicyEnvelope: {
            data: components["schemas"]["SlaPolicy"];
            meta: components["schemas"]["Meta"];
        };
        SlaPolicyPage: {
            data: components["schemas"]["SlaPolicy"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "goals": {
         *         "critical": 30,
         *         "high": 240
         *       }
         *     }
         */
        SlaPolicyPatch: {
            /**
             * @description Null: around the clock.
             * @example null
             */
            calendarId?: string | null;
            /**
             * @description Over the incident; all must hold.
             * @example {
             *       "category": "vip"
             *     }
             */
            conditions?: {
                [key: string]: string | number | boolean | null | {
                    contains?: string | number | boolean | null;
                    exists?: boolean;
                    gt?: number | string;
                    gte?: number | string;
                    in?: (string | number | boolean | null)[];
                    lt?: number | string;
                    lte?: number | string;
                    ne?: string | number | boolean | null;
                    nin?: (string | number | boolean | null)[];
                    starts_with?: string;
                };
            };
            /**
             * @description Minutes of open hours by severity.
             * @example {
             *       "critical": 60,
             *       "high": 240
             *     }
             */
            goals?: {
                critical?: number;
                high?: number;
                low?: number;
                medium?: number;
            };
            /** @example Gold */
            name?: string;
            /** @description Hold reasons that stop the clock. */
            pauseReasons?: ("awaiting_caller" | "awaiting_change" | "awaiting_problem" | "awaiting_vendor")[];
            /**
             * @description An inactive one starts no clocks.
             * @enum {string}
             */
            status?: "active" | "inactive";
            /**
             * @description Percent of the goal at which to warn.
             * @example [
             *       50,
             *       75,
             *       90
             *     ]
             */
            warnings?: number[];
        };
        SlaReapplied: {
            /** @description Of those, changed now: 1,000 at most, so repeat while it is less. */
            applied: number;
            /** @description Those pinned to something else than the present revisions. */
            changed: number;
            /** @description The first 200. */
            changes: {
                after: {
                    calendarRevision: number | null;
                    /**
                     * Format: date-time
                     * @description Null while paused.
                     */
                    dueAt: string | null;
                    goalMs: number;
                    policyRevision: number;
                    state: components["schemas"]["SlaClockState"];
                };
                before: {
                    calendarRevision: number | null;
                    /**
                     * Format: date-time
                     * @description Null while paused.
                     */
                    dueAt: string | null;
                    goalMs: number;
                    policyRevision: number;
                    state: components["schemas"]["SlaClockState"];
                };
                entityId: string;
                timerId: string;
            }[];
            dryRun: boolean;
            /** @description Open clocks of the policy. */
            open: number;
        };
        SlaReappliedEnvelope: {
            data: components["schemas"]["SlaReapplied"];
            meta: components["schemas"]["Meta"];
        };
        Token: {
            /** Format: date-time */
            createdAt: string;
            /** @description Null: every environment. */
            environments: ("production" | "staging" | "development")[] | null;
            /** Format: date-time */
            expiresAt: string | null;
            id: string;
            /**
             * Format: date-time
             * @description To the minute.
             */
            lastUsedAt: string | null;
            name: string;
            predecessorId: string | null;
            /** @description How the key begins, to recognise it by. */
            prefix: string;
            revocationReason: components["schemas"]["RevocationReason"];
            /** Format: date-time */
            revokedAt: string | null;
            scopes: components["schemas"]["Permission"][];
            status: components["schemas"]["TokenStatus"];
            /** @description Set once rotated. */
            successorId: string | null;
            /** Format: date-time */
            updatedAt: string;
            /** @description Whose key it is. */
            userId: string;
            /**
             * Format: date-time
             * @description End of the overlap; set once rotated.
             */
            validUntil: string | null;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        TokenCreated: {
            /** Format: date-time */
            createdAt: string;
            /** @description Null: every environment. */
            environments: ("production" | "staging" | "development")[] | null;
            /** Format: date-time */
            expiresAt: string | null;
            id: string;
            /**
             * Format: date-time
             * @description To the minute.
             */
            lastUsedAt: string | null;
            name: string;
            predecessorId: string | null;
            /** @description How the key begins, to recognise it by. */
            prefix: string;
            revocationReason: components["schemas"]["RevocationReason"];
            /** Format: date-time */
            revokedAt: string | null;
            scopes: components["schemas"]["Permission"][];
            status: components["schemas"]["TokenStatus"];
            /** @description Set once rotated. */
            successorId: string | null;
            /** @description The key itself, shown this once; null when the answer is replayed by Idempotency-Key. */
            token: string | null;
            /** Format: date-time */
            updatedAt: string;
            /** @description Whose key it is. */
            userId: string;
            /**
             * Format: date-time
             * @description End of the overlap; set once rotated.
             */
            validUntil: string | null;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        TokenCreatedEnvelope: {
            data: components["schemas"]["TokenCreated"];
            meta: components["schemas"]["Meta"];
        };
        TokenEnvelope: {
            data: components["schemas"]["Token"];
            meta: components["schemas"]["Meta"];
        };
        TokenPage: {
            data: components["schemas"]["Token"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /** @example {} */
        TokenRotation: {
            /** @description Absent: the key this request is made with. */
            id?: string;
        };
        /**
         * @description `rotated`: replaced by its successor and valid until `validUntil` only.
         * @enum {string}
         */
        TokenStatus: "active" | "rotated" | "revoked";
        TopicEvent: {
            /** Format: date-time */
            createdAt: string;
            deduplicationKey?: string;
            id: string;
            payload: {
                [key: string]: unknown;
            };
            topic: string;
            type: string;
        };
        TopicEventPage: {
            data: components["schemas"]["TopicEvent"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "events": [
         *         "incident.created",
         *         "incident.escalated"
         *       ],
         *       "retries": 5
         *     }
         */
        UpdateWebhook: {
            /** @description Event types, `prefix.*`, `*`, or `audit.*` for the whole audit log. */
            events?: string[];
            filter?: components["schemas"]["Filter"];
            /** @description Replaces all headers. */
            headers?: {
                [key: string]: string;
            };
            name?: string;
            /** @description Dotted path into the delivery body, such as `data.id`. Deliveries with the same value there are sent one after another in the order of their events; one that fails holds the next back until its retries are used up. */
            ordering_key?: string | null;
            /** @description Most attempts per second, over all replicas; 0.1 is one every ten seconds. What exceeds it waits. */
            rate_limit_per_second?: number | null;
            retries?: number;
            retry_max_delay_ms?: number;
            /** @description Seconds before each retry; the last one repeats. Replaces the strategy. */
            retry_schedule?: number[] | null;
            /** @enum {string} */
            retry_strategy?: "fixed" | "exponential";
            /** @description Alias of retry_max_delay_ms. */
            retryMaxDelayMs?: number;
            /**
             * @description Alias of retry_strategy.
             * @enum {string}
             */
            retryStrategy?: "fixed" | "exponential";
            /** @description Signing secret, write-only. Keys X-Service-Signature-256 as it is; for the Standard Webhooks signature a `whsec_` secret is base64-decoded first. */
            secret?: string | null;
            /**
             * @description active resumes a paused webhook.
             * @enum {string}
             */
            status?: "active" | "paused";
            timeout_ms?: number;
            /** @description Alias of timeout_ms. */
            timeoutMs?: number;
            /** @description Target; must be https. */
            url?: string;
        };
        UsedSecret: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            /**
             * Format: date-time
             * @description To the minute; null when no service has used it.
             */
            lastUsedAt: string | null;
            /**
             * @description The service.
             * @example dispatcher
             */
            lastUsedBy: string | null;
            /** @example payment_api_key */
            name: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description How often services have asked for the value; up to a minute old. */
            useCount: number;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        UsedSecretEnvelope: {
            data: components["schemas"]["UsedSecret"];
            meta: components["schemas"]["Meta"];
        };
        UsedSecretPage: {
            data: components["schemas"]["UsedSecret"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        User: {
            /** @description What the present status allows. */
            allowedActions: components["schemas"]["UserAction"][];
            /** Format: date-time */
            createdAt: string;
            email: string;
            id: string;
            /**
             * Format: date-time
             * @description Set while the user is invited.
             */
            invitationExpiresAt: string | null;
            name: string;
            /**
             * @description Name of a role.
             * @example developer
             */
            role: string;
            status: components["schemas"]["MembershipStatus"];
            /** Format: date-time */
            updatedAt: string;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        /**
         * @description `invite`: send a new invitation. `accept` is for the invited person alone.
         * @enum {string}
         */
        UserAction: "invite" | "accept" | "change_role" | "suspend" | "reactivate" | "remove";
        UserEnvelope: {
            data: components["schemas"]["User"];
            meta: components["schemas"]["Meta"];
        };
        UserPage: {
            data: components["schemas"]["User"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @example {
         *       "role": "developer"
         *     }
         */
        UserPatch: {
            /**
             * @description Name of a role.
             * @example developer
             */
            role?: string;
            /**
             * @description Suspends, or lets in again.
             * @enum {string}
             */
            status?: "active" | "suspended";
        };
        Webhook: {
            /** @description Deliveries failed on every attempt since the last success or resume. */
            consecutive_failures: number;
            created_at: string;
            /** @enum {string} */
            environment: "production" | "staging" | "development";
            events: string[];
            filter: components["schemas"]["Filter"];
            has_secret: boolean;
            headers: {
                [key: string]: string;
            };
            id: string;
            name: string;
            ordering_key: string | null;
            /** @enum {string|null} */
            paused_reason: "user" | "consecutive_failures" | "gone" | null;
            rate_limit_per_second: number | null;
            retries: number;
            retry_max_delay_ms: number;
            retry_schedule: number[] | null;
            /** @enum {string} */
            retry_strategy: "fixed" | "exponential";
            /** @enum {string} */
            status: "active" | "paused";
            timeout_ms: number;
            updated_at: string;
            /** @description Target; must be https. */
            url: string;
            version: number;
        };
        WebhookEnvelope: {
            data: components["schemas"]["Webhook"];
            meta: components["schemas"]["Meta"];
        };
        WebhookPage: {
            data: components["schemas"]["Webhook"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        WebhookTestResult: {
            /** @description The first 64 KiB of the answer; echoed secrets are `***`. */
            body: string;
            /** @description From before DNS to the last byte of the answer. */
            latency_ms: number;
            /** @description HTTP status of the endpoint. */
            status: number;
        };
        WebhookTestResultEnvelope: {
            data: components["schemas"]["WebhookTestResult"];
            meta: components["schemas"]["Meta"];
        };
        Workspace: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            name: string;
            settings: components["schemas"]["WorkspaceSettings"];
            /** @example acme */
            slug: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        /** @description A workspace, with the role the caller has in it. */
        WorkspaceAccess: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            name: string;
            /**
             * @description Name of a role.
             * @example developer
             */
            role: string;
            settings: components["schemas"]["WorkspaceSettings"];
            /** @example acme */
            slug: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Also the ETag; send it as If-Match. */
            version: number;
        };
        WorkspaceAccessEnvelope: {
            data: components["schemas"]["WorkspaceAccess"];
            meta: components["schemas"]["Meta"];
        };
        WorkspaceAccessPage: {
            data: components["schemas"]["WorkspaceAccess"][];
            meta: components["schemas"]["Meta"];
            pagination: components["schemas"]["Pagination"];
        };
        WorkspaceEnvelope: {
            data: components["schemas"]["Workspace"];
            meta: components["schemas"]["Meta"];
        };
        /**
         * @example {
         *       "name": "Acme",
         *       "settings": {
         *         "timezone": "Europe/Paris"
         *       }
         *     }
         */
        WorkspacePatch: {
            name?: string;
            settings?: {
                /** @description How long execution logs stay. */
                executionRetentionDays?: number;
                /** @example Europe/Paris */
                timezone?: string;
            };
        };
        WorkspaceSettings: {
            /** @description How long execution logs stay. */
            executionRetentionDays: number;
            /** @example Europe/Paris */
            timezone: string;
        };
        WorkspaceStats: {
            /** @description From the audit log of this environment; types of the last 7 days, most first. */
            events: {
                byType: {
                    last7d: number;
                    last24h: number;
                    type: string;
                }[];
                last7d: number;
                last24h: number;
            };
            members: number;
            /** @description In this environment. */
            secrets: number;
            tokens: {
                active: number;
                total: number;
            };
        };
        WorkspaceStatsEnvelope: {
            data: components["schemas"]["WorkspaceStats"];
            meta: components["schemas"]["Meta"];
        };
    };
    responses: never;
    parameters: {
        /** @description Environment of the workspace; data of environments is separate. */
        Environment: "production" | "staging" | "development";
        /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
        IdempotencyKey: string;
        /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
        IfMatch: string;
        /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
        IfNoneMatch: string;
        /** @description Echoed, logged and carried on events; made when absent or not of this form. */
        RequestId: string;
        /** @description Slug of the workspace the request works in. */
        Workspace: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAuditEvents: {
        parameters: {
            query?: {
                /** @description Id of who acted. */
                actor?: string;
                /** @description IP address the request came from. */
                address?: string;
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description First instant that counts. */
                from?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Of the request that caused the event. */
                requestId?: string;
                resourceId?: string;
                resourceType?: string;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description First instant that no longer counts. */
                to?: string;
                type?: string;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Query the audit log */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEventPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getAuditEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an event of the audit log */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEventEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listAuditCheckpoints: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List checkpoints of the audit log */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditCheckpointPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createAuditCheckpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sign the end of the audit log */
            201: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditCheckpointEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getAuditCheckpointKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the public key of checkpoints */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditCheckpointKeyEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    exportAudit: {
        parameters: {
            query?: {
                /** @description Id of who acted. */
                actor?: string;
                /** @description IP address the request came from. */
                address?: string;
                /** @description First instant that counts. */
                from?: string;
                /** @description Of the request that caused the event. */
                requestId?: string;
                resourceId?: string;
                resourceType?: string;
                /** @description First instant that no longer counts. */
                to?: string;
                type?: string;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Export the audit log */
            200: {
                headers: {
                    /** @description A file name. */
                    "Content-Disposition"?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["AuditEvent"] | components["schemas"]["AuditExportEnd"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    verifyAudit: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of a verification that ran out of time. */
                after?: string;
                /** @description First `seq` to check; 1 unless given. */
                from?: number;
                /** @description Last `seq` to check; the end of the chain unless given. */
                to?: number;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Verify the audit log */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditVerificationEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    verifyAuditAgainstCheckpoint: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of a verification that ran out of time. */
                after?: string;
                /** @description First `seq` to check; 1 unless given. */
                from?: number;
                /** @description Last `seq` to check; the end of the chain unless given. */
                to?: number;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuditVerifyRequest"];
            };
        };
        responses: {
            /** @description Verify the audit log against a checkpoint kept outside */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditVerificationEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationAcceptance"];
            };
        };
        responses: {
            /** @description Accept an invitation */
            201: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionEnvelope"];
                };
            };
            /** @description `malformed_url`, `malformed_json` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_token`, `invalid_credentials` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the current user and workspace */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MeEnvelope"];
                };
            };
            /** @description `malformed_url` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /** @description Log in */
            201: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionEnvelope"];
                };
            };
            /** @description `malformed_url`, `malformed_json` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_credentials` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List your API keys */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            /** @description Create an API key */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCreatedEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke an API key */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    rotateToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TokenRotation"];
            };
        };
        responses: {
            /** @description Rotate an API key */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCreatedEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `workspace_forbidden`, `environment_forbidden`, `insufficient_scope` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listCiClasses: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List classes */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCiClassesEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createCiClass: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCiClass"];
            };
        };
        responses: {
            /** @description Create a class */
            201: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiClassEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateCiClass: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CiClassPatch"];
            };
        };
        responses: {
            /** @description Update a class */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiClassEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict`, `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getImpact: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImpactQuestion"];
            };
        };
        responses: {
            /** @description What breaks if these items fail at once */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiImpactEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listConfigurationItems: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description One or several classes, repeated or separated by commas. */
                class?: string[];
                /** @description One or several, repeated or separated by commas. */
                criticality?: components["schemas"]["Criticality"][];
                /** @description Items per page. */
                limit?: number;
                /** @description A user, or `none` for items without an owner. */
                owner?: string;
                /** @description Text within the name. */
                q?: string;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt" | "updatedAt" | "-updatedAt" | "name" | "-name";
                /** @description System the items were read from. */
                source?: string;
                /** @description One or several statuses, repeated or separated by commas. */
                status?: components["schemas"]["CiStatus"][];
                /** @description A team, or `none` for items nobody supports. */
                supportGroup?: string;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List configuration items */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewConfigurationItem"];
            };
        };
        responses: {
            /** @description Record a configuration item */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getConfigurationItem: {
        parameters: {
            query?: {
                /** @description Answer with the record as it was at this instant: fields, version and allowed actions. Before it was created, and after it was deleted, there is none. */
                asOf?: string;
            };
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a configuration item */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `invalid_state_transition`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConfigurationItemPatch"];
            };
        };
        responses: {
            /** @description Update a configuration item */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    activateConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CiStatusReason"];
            };
        };
        responses: {
            /** @description Put a configuration item into service */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    failConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CiStatusReason"];
            };
        };
        responses: {
            /** @description Report a configuration item as failed */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getImpactOfConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What breaks if this item fails */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiImpactEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listRelationsOfConfigurationItem: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description One or several types, repeated or separated by commas. */
                type?: components["schemas"]["RelationType"][];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the relations of a configuration item */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiRelationPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    repairConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CiStatusReason"];
            };
        };
        responses: {
            /** @description Begin to repair a configuration item */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    retireConfigurationItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CiStatusReason"];
            };
        };
        responses: {
            /** @description Retire a configuration item */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationItemEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listCiRelations: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description At either end. */
                itemId?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description One or several types, repeated or separated by commas. */
                type?: components["schemas"]["RelationType"][];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List relations */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiRelationPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createCiRelation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCiRelation"];
            };
        };
        responses: {
            /** @description Relate two configuration items */
            201: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiRelationEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteCiRelation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getTopology: {
        parameters: {
            query?: {
                /** @description Only what can be reached from this item. */
                around?: string;
                /** @description Most hops from `around`. */
                depth?: number;
                /** @description From `around`: `upstream` to what it depends on, `downstream` to what depends on it, both over relations with impact alone; `both` follows every relation either way. */
                direction?: "upstream" | "downstream" | "both";
                /** @description Most nodes. */
                limit?: number;
                /** @description One or several types, repeated or separated by commas. */
                types?: components["schemas"]["RelationType"][];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Dependency graph */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CiTopologyEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API reference page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: Record<string, never>;
                        meta: Record<string, never>;
                    };
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: Record<string, never>;
                        meta: Record<string, never>;
                    };
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: Record<string, never>;
                        meta: Record<string, never>;
                    };
                };
            };
        };
    };
    listEventDeliveries: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Of events, or made as replays, later than this. */
                createdAfter?: string;
                /** @description Of events, or made as replays, earlier than this. */
                createdBefore?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description One or several statuses, repeated or separated by commas. */
                status?: components["schemas"]["DeliveryStatus"][];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the deliveries of an event, newest first */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getAsyncApi: {
        parameters: {
            query?: never;
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event streams as an AsyncAPI 3.0 document */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        asyncapi: "3.0.0";
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description `malformed_url` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listEventTypes: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "type" | "-type";
                /** @description An event type, `prefix.*` or `*`. */
                type?: string;
            };
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the event types that can be subscribed to */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDescriptionPage"];
                };
            };
            /** @description `malformed_url`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getEventType: {
        parameters: {
            query?: never;
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an event type with the schema of its events */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDescriptionEnvelope"];
                };
            };
            /** @description `malformed_url` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listTopicEvents: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Milliseconds to wait when there are no new events. */
                timeout?: number | null;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                /** @description Such as `orders.created`. A topic exists once something is published to it. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Read the events of a topic, oldest first */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicEventPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    publishTopicEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                /** @description Such as `orders.created`. A topic exists once something is published to it. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PublishTopicEvent"];
            };
        };
        responses: {
            /** @description Publish an event to a topic */
            201: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedTopicEventEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listSlaCalendars: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List SLA calendars */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaCalendarPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createSlaCalendar: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSlaCalendar"];
            };
        };
        responses: {
            /** @description Create an SLA calendar */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaCalendarEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getSlaCalendar: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an SLA calendar */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaCalendarEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteSlaCalendar: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateSlaCalendar: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SlaCalendarPatch"];
            };
        };
        responses: {
            /** @description Update an SLA calendar */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaCalendarEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listIncidents: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description A user, or `none` for unassigned incidents. */
                assigneeId?: string;
                /** @description A team, or `none` for unrouted incidents. */
                assignmentGroup?: string;
                /** @description Created later than this. */
                createdAfter?: string;
                /** @description Created earlier than this. */
                createdBefore?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Text within title or number. */
                q?: string;
                /** @description One or several severities, repeated or separated by commas. */
                severity?: components["schemas"]["Severity"][];
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt" | "updatedAt" | "-updatedAt" | "number" | "-number";
                /** @description One or several statuses, repeated or separated by commas. */
                status?: components["schemas"]["IncidentStatus"][];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List incidents */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewIncident"];
            };
        };
        responses: {
            /** @description Create an incident */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getIncident: {
        parameters: {
            query?: {
                /** @description Answer with the record as it was at this instant: fields, version and allowed actions. Before it was created, and after it was deleted, there is none. */
                asOf?: string;
            };
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an incident */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IncidentPatch"];
            };
        };
        responses: {
            /** @description Update an incident */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    closeIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CloseIncident"];
            };
        };
        responses: {
            /** @description Close a resolved incident */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listIncidentComments: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description `public`: the caller sees it. `internal`: a work note for agents. */
                visibility?: components["schemas"]["CommentVisibility"];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the comments of an incident */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentCommentPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    addIncidentComment: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewIncidentComment"];
            };
        };
        responses: {
            /** @description Comment on an incident */
            201: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentCommentEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    escalateIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EscalateIncident"];
            };
        };
        responses: {
            /** @description Escalate an incident */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    reopenIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReopenIncident"];
            };
        };
        responses: {
            /** @description Reopen a resolved incident */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    resolveIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResolveIncident"];
            };
        };
        responses: {
            /** @description Resolve an incident */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getIncidentSla: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Explain the SLA clocks of an incident */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentSlaEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listSlaPolicies: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List SLA policies */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaPolicyPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createSlaPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSlaPolicy"];
            };
        };
        responses: {
            /** @description Create an SLA policy */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaPolicyEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getSlaPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an SLA policy */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaPolicyEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteSlaPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateSlaPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SlaPolicyPatch"];
            };
        };
        responses: {
            /** @description Update an SLA policy */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaPolicyEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    reapplySlaPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReapplySla"];
            };
        };
        responses: {
            /** @description Reapply an SLA policy to open clocks */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlaReappliedEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listArticles: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                category?: string;
                language?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Text within title or number. */
                q?: string;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description Readers only ever get published articles. */
                status?: "draft" | "in_review" | "published" | "retired";
                tag?: string;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List knowledge articles */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticlePage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewArticle"];
            };
        };
        responses: {
            /** @description Create an article */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an article */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ArticlePatch"];
            };
        };
        responses: {
            /** @description Edit an article */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    approveArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Approve and publish an article */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden`, `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    giveArticleFeedback: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArticleFeedback"];
            };
        };
        responses: {
            /** @description Say whether an article helped */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GiveArticleFeedbackEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    rejectArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RejectArticle"];
            };
        };
        responses: {
            /** @description Send an article back to its author */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    retireArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Retire a published article */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    submitArticle: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Submit a draft for review */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listArticleVersions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the versions of an article */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleVersionPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getArticleVersion: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
                n: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get one version of an article */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArticleVersionEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    searchKnowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KnowledgeSearch"];
            };
        };
        responses: {
            /** @description Search published articles */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeResultsEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listNotifications: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description Only those the calling user has not read (`true`) or has read (`false`). */
                unread?: "true" | "false";
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List notifications to admins */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getNotification: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a notification */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    markNotificationRead: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Mark a notification as read */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getOpenApiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This API as OpenAPI 3.1, in JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: Record<string, never>;
                        meta: Record<string, never>;
                    };
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: Record<string, never>;
                        meta: Record<string, never>;
                    };
                };
            };
        };
    };
    getOpenApiYaml: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This API as OpenAPI 3.1, in YAML */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": string;
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: Record<string, never>;
                        meta: Record<string, never>;
                    };
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: Record<string, never>;
                        meta: Record<string, never>;
                    };
                };
            };
        };
    };
    listSecrets: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "name" | "-name" | "createdAt" | "-createdAt";
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List secret names */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsedSecretPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecret"];
            };
        };
        responses: {
            /** @description Store a secret */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a secret */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsedSecretEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    rotateSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            /** @description Rotate a secret */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listRoles: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List roles */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RolePage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRole"];
            };
        };
        responses: {
            /** @description Create a custom role */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden`, `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a role */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden`, `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RolePatch"];
            };
        };
        responses: {
            /** @description Update a custom role */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden`, `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description How the name or the e-mail begins, in any case. */
                q?: string;
                /** @description Name of a role. */
                role?: string;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                status?: components["schemas"]["MembershipStatus"];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the users of the workspace */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a user of the workspace */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    removeUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a user from the workspace */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden`, `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `conflict`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UserPatch"];
            };
        };
        responses: {
            /** @description Change the role of a user, suspend or reactivate */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden`, `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `conflict`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    inviteUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitation"];
            };
        };
        responses: {
            /** @description Invite a user */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitedUserEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden`, `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                status?: "active" | "paused";
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List webhooks */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            /** @description Create a webhook */
            201: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    /** @description Where the new resource is. */
                    Location?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a webhook */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content. */
            204: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateWebhook"];
            };
        };
        responses: {
            /** @description Update, pause or resume a webhook */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Of events, or made as replays, later than this. */
                createdAfter?: string;
                /** @description Of events, or made as replays, earlier than this. */
                createdBefore?: string;
                /** @description One or several event types, repeated or separated by commas. */
                eventType?: string[];
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
                /** @description One or several statuses, repeated or separated by commas. */
                status?: components["schemas"]["DeliveryStatus"][];
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the deliveries of a webhook, newest first */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                deliveryId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a delivery with its requests and responses */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryDetailEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    replayWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                deliveryId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Replay a delivery */
            202: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    retryWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                deliveryId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Retry a failed delivery */
            202: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    replayWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplayDeliveries"];
            };
        };
        responses: {
            /** @description Replay many deliveries */
            202: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayStartedEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listWebhookReplays: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
            };
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the replay jobs of a webhook, newest first */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobPage"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
                replayId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a replay job with its progress */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    cancelWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
                replayId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel a replay job */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `invalid_state_transition` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSecret"];
            };
        };
        responses: {
            /** @description Rotate the signing secret */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedWebhookEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Send a test ping */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTestResultEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_in_progress`, `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    listWorkspaces: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before. */
                after?: string;
                /** @description Items per page. */
                limit?: number;
                /** @description Field to sort by; `-` sorts descending. */
                sort?: "createdAt" | "-createdAt";
            };
            header?: {
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the workspaces you can access */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceAccessPage"];
                };
            };
            /** @description `malformed_url`, `invalid_cursor` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    updateWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request takes effect once and is answered the same for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag seen last; the request fails with 412 when the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WorkspacePatch"];
            };
        };
        responses: {
            /** @description Update the current workspace */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required`, `malformed_json`, `idempotency_key_invalid` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `version_conflict`, `idempotency_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed`, `idempotency_key_reused` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getWorkspaceStats: {
        parameters: {
            query?: never;
            header?: {
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get figures about the current workspace */
            200: {
                headers: {
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceStatsEnvelope"];
                };
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    getCurrentWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag seen last; the answer is 304 without content when the resource is still the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Environment of the workspace; data of environments is separate. */
                "X-Environment"?: components["parameters"]["Environment"];
                /** @description Echoed, logged and carried on events; made when absent or not of this form. */
                "X-Request-ID"?: components["parameters"]["RequestId"];
                /** @description Slug of the workspace the request works in. */
                "X-Workspace"?: components["parameters"]["Workspace"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the current workspace */
            200: {
                headers: {
                    /** @description The version, for If-Match. */
                    ETag?: string;
                    "X-Request-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceAccessEnvelope"];
                };
            };
            /** @description Unchanged since If-None-Match; no content. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed_url`, `workspace_required` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unauthenticated`, `invalid_token`, `token_expired` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `insufficient_scope`, `workspace_forbidden`, `environment_forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `validation_failed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `service_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upstream_timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
}
