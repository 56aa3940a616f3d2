import { ciClass } from './class/class-domain.js'
import { configurationItem } from './item/item-domain.js'
import { ciRelation } from './relation/relation-domain.js'

/** All deciders of the CMDB. */
export const cmdbDeciders = [configurationItem, ciRelation, ciClass]
