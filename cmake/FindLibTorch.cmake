# Finds LibTorch by its files: headers, libtorch_cpu and libc10. coterie-deep needs nothing else. LibTorch's own CMake package is not used: it stops
# the configuration if a CUDA build finds no CUDA toolkit, and it requires libraries that only LibTorch itself was linked with.
#
# Search order; the first complete one is used:
#   COTERIE_TORCH        a folder with include/ and lib/: an unpacked LibTorch, or the folder torch of an installed Python package. Then there is no
# further                        search. OFF builds without networks.
#   the system           the default folders of compiler and linker (Debian's libtorch-dev)
#   Python               the package torch of Python_EXECUTABLE, or of the first python3; it is located, not imported
#
# Sets LibTorch_FOUND, LibTorch_VERSION, and makes LibTorch::LibTorch.

include(FindPackageHandleStandardArgs)
set(COTERIE_TORCH "" CACHE STRING "Folder of LibTorch with include/ and lib/, or OFF; empty: the system's, then that of Python's torch")

# Looks for the files in `folder`; empty: in the system's folders. LibTorch_whole tells whether all were found.
macro(coterie_look_for_torch folder)
  foreach(part include api_include cpu c10)
    unset(LibTorch_${part})
  endforeach()
  set(where NO_CACHE)
  if(NOT "${folder}" STREQUAL "")
    list(APPEND where NO_DEFAULT_PATH PATHS ${folder})
  endif()
  find_path(LibTorch_include ATen/ATen.h ${where} PATH_SUFFIXES include)
  find_path(LibTorch_api_include torch/version.h ${where} PATH_SUFFIXES include/torch/csrc/api/include)
  find_library(LibTorch_cpu torch_cpu ${where} PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
  find_library(LibTorch_c10 c10 ${where} PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
  set(LibTorch_whole FALSE)
  if(LibTorch_include AND LibTorch_api_include AND LibTorch_cpu AND LibTorch_c10)
    set(LibTorch_whole TRUE)
  endif()
endmacro()

if(COTERIE_TORCH)
  if(NOT IS_DIRECTORY "${COTERIE_TORCH}")
    message(FATAL_ERROR "COTERIE_TORCH is '${COTERIE_TORCH}', which is not a folder; give one with include/ and lib/, or OFF")
  endif()
  coterie_look_for_torch("${COTERIE_TORCH}")
  if(NOT LibTorch_whole)
    message(FATAL_ERROR "COTERIE_TORCH is '${COTERIE_TORCH}', which does not contain all of include/ATen, include/torch, lib/libtorch_cpu and lib/libc10")
  endif()
elseif(COTERIE_TORCH STREQUAL "")
  coterie_look_for_torch("")
  if(NOT LibTorch_whole)
    set(LibTorch_python ${Python_EXECUTABLE})
    if(NOT LibTorch_python)
      find_program(LibTorch_python python3 NO_CACHE)
    endif()
    if(LibTorch_python)
      execute_process(COMMAND ${LibTorch_python} -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE LibTorch_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      if(LibTorch_folder)
        coterie_look_for_torch("${LibTorch_folder}")
      endif()
    endif()
  endif()
endif()

if(LibTorch_api_include)
  string(REGEX REPLACE "/$" "" LibTorch_include "${LibTorch_include}")
  string(REGEX REPLACE "/$" "" LibTorch_api_include "${LibTorch_api_include}")
  set(LibTorch_header ${LibTorch_include}/torch/headeronly/version.h)  # newer versions have it here
  if(NOT EXISTS ${LibTorch_header})
    set(LibTorch_header ${LibTorch_api_include}/torch/version.h)
  endif()
  file(STRINGS ${LibTorch_header} LibTorch_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" LibTorch_lines "${LibTorch_lines}")
  list(JOIN LibTorch_lines "." LibTorch_VERSION)
endif()
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_cpu LibTorch_c10 LibTorch_include LibTorch_api_include VERSION_VAR LibTorch_VERSION)

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  # Older wheels use libstdc++'s strings from before C++11. Only the names of symbols show it. coterie-deep must be built in the same way, which is
  # possible because its interface is C.
  file(STRINGS ${LibTorch_c10} LibTorch_symbols REGEX "^_ZN3c105ErrorC[12]E.*__cxx11" LIMIT_COUNT 1)
  set(LibTorch_abi 0)
  if(LibTorch_symbols)
    set(LibTorch_abi 1)
  endif()
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  set_target_properties(LibTorch::LibTorch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_api_include};${LibTorch_include}"
    INTERFACE_LINK_LIBRARIES "${LibTorch_cpu};${LibTorch_c10}" INTERFACE_COMPILE_DEFINITIONS _GLIBCXX_USE_CXX11_ABI=${LibTorch_abi})
  # coterie-deep names the folder of LibTorch if the loader does not search it by default.
  get_filename_component(LibTorch_library_folder ${LibTorch_cpu} DIRECTORY)
  if(LibTorch_library_folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES OR LibTorch_library_folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    set(LibTorch_library_folder "")
  endif()
endif()
