# Compiler flags of all targets, and the tests of the modules.

function(coterie_global_flags)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
endfunction()

# -ffp-contract=off except in the kernels, so that all compilers and optimisation levels give the same bits.
function(coterie_target_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off
    # Keeps unused functions out of the extension of the Python package.
    -ffunction-sections -fdata-sections
    # GCC 12 warns about overlaps inside std::string that cannot happen (its bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<BOOL:${COTERIE_WARNINGS_AS_ERRORS}>:-Werror>)
  if(COTERIE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${COTERIE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${COTERIE_SANITIZE})
  endif()
endfunction()

# All coterie/MODULE/*_test.cpp and coterie/MODULE/*/*_test.cpp form the program test_MODULE. coterie/*_test.cpp, which span modules, form
# test_coterie.
function(coterie_add_room_tests)
  find_package(GTest REQUIRED)
  find_package(TBB REQUIRED)
  include(GoogleTest)
  file(GLOB rooms CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/coterie ${PROJECT_SOURCE_DIR}/coterie/*)
  add_library(coterie_test_threads OBJECT ${PROJECT_SOURCE_DIR}/tests/threads_as_asked.cpp)
  target_link_libraries(coterie_test_threads PRIVATE TBB::tbb)
  coterie_target_flags(coterie_test_threads)
  # LibTorch uses OpenMP, whose threads spin by default. That would slow down the tests that run at the same time. (The command sets this itself.)
  foreach(room IN LISTS rooms ITEMS coterie)
    set(folder ${PROJECT_SOURCE_DIR}/coterie/${room})
    if(room STREQUAL "coterie")
      set(folder ${PROJECT_SOURCE_DIR}/coterie)
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*_test.cpp)
    if(NOT room STREQUAL "coterie")
      file(GLOB inner CONFIGURE_DEPENDS ${folder}/*/*_test.cpp)
      list(APPEND sources ${inner})
    endif()
    if(NOT sources)
      continue()
    endif()
    add_executable(test_${room} ${sources} $<TARGET_OBJECTS:coterie_test_threads>)
    target_link_libraries(test_${room} PRIVATE coterie::coterie TBB::tbb GTest::gtest GTest::gtest_main)
    coterie_target_flags(test_${room})
    # Most of the compile time goes into the headers of GoogleTest and Eigen, so the tests of a folder are compiled as one unit. Their helpers need
    # different names.
    foreach(source IN LISTS sources)
      cmake_path(GET source PARENT_PATH group)
      cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER "of_${group}" group)
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
    endforeach()
    set_target_properties(test_${room} PROPERTIES UNITY_BUILD ${COTERIE_UNITY} UNITY_BUILD_MODE GROUP)
    # Compiling the tests takes longer than running them. At -O1 it takes a quarter less.
    target_compile_options(test_${room} PRIVATE $<$<CONFIG:Release>:-O1>)
    # Next to lib/ and share/, like an installed program.
    set_target_properties(test_${room} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    gtest_discover_tests(test_${room} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 600 LABELS fast ENVIRONMENT COTERIE_SOURCE=${PROJECT_SOURCE_DIR} ENVIRONMENT_MODIFICATION OMP_WAIT_POLICY=set:passive)
  endforeach()
endfunction()
