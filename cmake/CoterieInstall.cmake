# Rules of `cmake --install` for library, headers, data, licence, CMake package and pkg-config file. cli/CMakeLists.txt has the rules for the command,
# its manual page and its completions.

include(CMakePackageConfigHelpers)

set(COTERIE_IS_STATIC ON)
set(installed coterie)
if(TARGET coterie_shared)
  set(COTERIE_IS_STATIC OFF)
  set(installed coterie_shared)
endif()
install(TARGETS ${installed} EXPORT coterie
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The public headers: those that coterie/coterie.hpp includes.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/coterie/coterie.hpp)
file(STRINGS ${PROJECT_SOURCE_DIR}/coterie/coterie.hpp headers REGEX "^#include \"coterie/")
list(TRANSFORM headers REPLACE "^#include \"(.*)\"$" "\\1")
list(APPEND headers coterie/coterie.hpp)
foreach(header IN LISTS headers)
  get_filename_component(room ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${room})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/coterie/data)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A shared library is linked with its dependencies. Programs that link the static library must also link them.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/coterie)
set(COTERIE_PKG_MODULES "")
set(COTERIE_PKG_PREFIXES "")
foreach(part "CRYPTO;libcrypto" "LIBZIP;libzip" "CURL;libcurl" "ICU;icu-uc")
  list(GET part 0 prefix)
  list(GET part 1 module)
  if(${prefix}_FOUND)
    list(APPEND COTERIE_PKG_PREFIXES ${prefix})
    list(APPEND COTERIE_PKG_MODULES ${module})
  endif()
endforeach()
install(EXPORT coterie NAMESPACE coterie:: FILE coterieTargets.cmake DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/coterieConfig.cmake.in ${PROJECT_BINARY_DIR}/coterieConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/coterieConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/coterieConfig.cmake ${PROJECT_BINARY_DIR}/coterieConfigVersion.cmake DESTINATION ${package})

# pkg-config.
set(requires zlib tbb ${COTERIE_PKG_MODULES})
list(JOIN requires ", " requires)
set(libraries "")
foreach(library IN LISTS CMAKE_DL_LIBS)
  list(APPEND libraries -l${library})
endforeach()
list(REMOVE_DUPLICATES libraries)
list(JOIN libraries " " libraries)
if(COTERIE_IS_STATIC)
  set(COTERIE_PC_PUBLIC_REQUIRES "Requires: eigen3 >= 3.4, ${requires}")
  set(COTERIE_PC_LIBS "Libs: -L\${libdir} -lcoterie ${libraries}")
else()
  set(COTERIE_PC_PUBLIC_REQUIRES "Requires: eigen3 >= 3.4\nRequires.private: ${requires}")
  set(COTERIE_PC_LIBS "Libs: -L\${libdir} -lcoterie\nLibs.private: ${libraries}")
endif()
# Relative to the file itself, so that the installed tree can be moved.
file(RELATIVE_PATH COTERIE_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/coterie.pc.in ${PROJECT_BINARY_DIR}/coterie.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/coterie.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
