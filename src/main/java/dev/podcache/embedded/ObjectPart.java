package dev.podcache.embedded;

/** The part of an object that a write changes. The other part keeps its state. */
public enum ObjectPart {
    /** The object without its status, if the resource has a status. */
    OBJECT,
    /** The status subresource: the status, labels and annotations. */
    STATUS
}
