package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKind;
import org.junit.jupiter.api.Test;

class ObjectSelectionTest {

    @Test
    void byName_secret_isSelectedByItsField() {
        ObjectSelection one = ObjectSelection.byName(ObjectKind.SECRET, "shop", "db");

        assertThat(one.isByName()).isTrue();
        assertThat(one.path()).isEqualTo("/api/v1/namespaces/shop/secrets?fieldSelector=metadata.name%3Ddb&");
        assertThat(one).hasToString("secrets in shop with metadata.name=db");
    }

    @Test
    void of_fieldSelectors_keepsThemAsTheyAre() {
        ObjectSelection byName = ObjectSelection.of(ObjectKind.SECRET, "shop", "metadata.name=db");
        ObjectSelection unequal = ObjectSelection.of(ObjectKind.POD, "", "spec.nodeName!=");
        ObjectSelection all = ObjectSelection.of(ObjectKind.SECRET, "shop", "");

        assertThat(byName).isEqualTo(ObjectSelection.byName(ObjectKind.SECRET, "shop", "db"));
        assertThat(unequal.isByName()).isFalse();
        assertThat(unequal.path()).isEqualTo("/api/v1/pods?fieldSelector=spec.nodeName%21%3D&");
        assertThat(unequal).hasToString("pods with spec.nodeName!=");
        assertThat(all.path()).isEqualTo("/api/v1/namespaces/shop/secrets?");
        assertThat(all).hasToString("secrets in shop");
    }

    @Test
    void watchRequest_fromAVersionOrFromAList_hasItsQuery() {
        ObjectSelection one = ObjectSelection.byName(ObjectKind.SECRET, "shop", "db");
        WatchRequest resumed = new WatchRequest(one, "47", 1800);
        WatchRequest streamed = new WatchRequest(one, null, 1800);

        assertThat(resumed.what()).isEqualTo("WATCH secrets in shop with metadata.name=db");
        assertThat(resumed.path())
                .isEqualTo(one.path() + "watch=true&allowWatchBookmarks=true&resourceVersion=47&timeoutSeconds=1800");
        assertThat(streamed.path())
                .isEqualTo(one.path() + "watch=true&allowWatchBookmarks=true"
                        + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1800");
    }
}
