package dev.podcache.embedded;

/** The part of an object that a write changes. The other part keeps its state. */
public enum ObjectPart {
    /** The object without its status, if the resource has a status. */
    OBJECT,
    /** The status subresource: the status, labels and annotations. */
    STATUS,
    /** The subresource of pods that adds ephemeral containers, and changes nothing else. */
    EPHEMERAL_CONTAINERS
}
