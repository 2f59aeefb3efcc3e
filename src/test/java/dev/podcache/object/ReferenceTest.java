package dev.podcache.object;

import com.google.common.testing.NullPointerTester;
import org.junit.jupiter.api.Test;

class ReferenceTest {

    @Test
    void constructor_null_isRefused() {
        new NullPointerTester()
                .setDefault(ObjectKey.class, ObjectKey.of("shop", "db"))
                .testAllPublicConstructors(Reference.class);
    }
}
