# Flags of every target, and the tests of the rooms.

function(coterie_global_flags)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
endfunction()

# -ffp-contract=off everywhere but in the kernels: the same bits from every compiler and optimisation level.
function(coterie_target_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off
    # What nothing calls stays out of the Python package's extension.
    -ffunction-sections -fdata-sections
    # GCC 12 warns of overlaps inside std::string that cannot happen (its bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<BOOL:${COTERIE_WARNINGS_AS_ERRORS}>:-Werror>)
  if(COTERIE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${COTERIE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${COTERIE_SANITIZE})
  endif()
endfunction()

# Every coterie/ROOM/*_test.cpp and coterie/ROOM/internal/*_test.cpp becomes part of the program test_ROOM; coterie/*_test.cpp, which span the rooms, that of test_coterie.
function(coterie_add_room_tests)
  find_package(GTest REQUIRED)
  find_package(TBB REQUIRED)
  include(GoogleTest)
  file(GLOB rooms CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/coterie ${PROJECT_SOURCE_DIR}/coterie/*)
  add_library(coterie_test_threads OBJECT ${PROJECT_SOURCE_DIR}/tests/threads_as_asked.cpp)
  target_link_libraries(coterie_test_threads PRIVATE TBB::tbb)
  coterie_target_flags(coterie_test_threads)
  # LibTorch's threads are OpenMP's, which spin unless told not to (the command tells them itself); other tests run beside those of networks.
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
    # Most of a source's compile time are the headers that all tests share, GoogleTest's and Eigen's. Helpers of a folder's tests have names of their own.
    foreach(source IN LISTS sources)
      cmake_path(GET source PARENT_PATH group)
      cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER "of_${group}" group)
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
    endforeach()
    set_target_properties(test_${room} PROPERTIES UNITY_BUILD ${COTERIE_UNITY} UNITY_BUILD_MODE GROUP)
    # Compiling the tests costs more than running them: a quarter less at -O1.
    target_compile_options(test_${room} PRIVATE $<$<CONFIG:Release>:-O1>)
    # Beside lib/ and share/, as an installed program is.
    set_target_properties(test_${room} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    gtest_discover_tests(test_${room} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 600 LABELS fast ENVIRONMENT COTERIE_SOURCE=${PROJECT_SOURCE_DIR} ENVIRONMENT_MODIFICATION OMP_WAIT_POLICY=set:passive)
  endforeach()
endfunction()
