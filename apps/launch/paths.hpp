#pragma once

namespace barrio::apps {

// Places of the tree that this program was built in. CMake writes their definitions.
extern const char* const source_folder;
extern const char* const build_python;  ///< of the Python environment that tools/setup makes

}  // namespace barrio::apps
