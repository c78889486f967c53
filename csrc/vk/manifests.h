/* Manifests: small JSON files that tell the Vulkan loader which libraries are drivers. */
#ifndef DML_VK_MANIFESTS_H
#define DML_VK_MANIFESTS_H

/* `library` is what to open: a path, or a file's name for the system to find; empty where the manifest names none. */
typedef void dml_manifest_visit(const char *manifest, const char *library, void *argument);

/* Visits a manifest, or all in a folder. */
void dml_manifests_visit_path(const char *path, dml_manifest_visit *visit, void *argument);

/* Visits all where the loader looks, in its order, with regard to VK_DRIVER_FILES, VK_ICD_FILENAMES and VK_ADD_DRIVER_FILES.
 * None on Windows, which keeps them in its registry. */
void dml_manifests_visit(dml_manifest_visit *visit, void *argument);

#endif
