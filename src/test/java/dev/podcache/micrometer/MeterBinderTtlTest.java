package dev.podcache.micrometer;

import dev.podcache.manager.ChangeDetectionStrategy;

class MeterBinderTtlTest extends MeterBinderKit {

    MeterBinderTtlTest() {
        super(ChangeDetectionStrategy.CACHE);
    }
}
