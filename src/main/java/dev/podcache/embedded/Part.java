package dev.podcache.embedded;

/** Which part of an object a write may change; writes to one part leave the other as it is. */
public enum Part {
    /** Everything but the status, where the resource has one. */
    OBJECT,
    /** The status subresource: the status, labels and annotations. */
    STATUS
}
