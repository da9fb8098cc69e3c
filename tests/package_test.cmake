# Run by ctest as `cmake -D STEP=... -P package_test.cmake`: installs coterie below the build folder and uses it as another project would.
#   STEP install | cmake | pkgconfig    BUILD the build folder    SOURCE tests/consumer    WORK scratch folder
#   GENERATOR, COMPILER, BUILD_TYPE, LIBDIR, INCLUDEDIR as of the build

cmake_minimum_required(VERSION 3.25)
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(STEP STREQUAL "install")
  file(REMOVE_RECURSE ${WORK})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
  foreach(path share/coterie/data/iris/iris.csv share/coterie/data/digits/digits.csv.gz ${LIBDIR}/cmake/coterie/coterieConfig.cmake
      ${LIBDIR}/pkgconfig/coterie.pc ${INCLUDEDIR}/coterie/methods.hpp)
    if(NOT EXISTS ${prefix}/${path})
      message(FATAL_ERROR "not installed: ${path}")
    endif()
  endforeach()
  # An installed header may include installed headers only.
  file(GLOB_RECURSE headers RELATIVE ${prefix}/${INCLUDEDIR} ${prefix}/${INCLUDEDIR}/coterie/*.hpp)
  foreach(header IN LISTS headers)
    file(STRINGS ${prefix}/${INCLUDEDIR}/${header} includes REGEX "^#include \"coterie/")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" include "${include}")
      if(NOT include IN_LIST headers)
        message(FATAL_ERROR "${header} includes ${include}, which is not installed")
      endif()
    endforeach()
  endforeach()

elseif(STEP STREQUAL "cmake")
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/consumer -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_PREFIX_PATH=${prefix})
  run(${CMAKE_COMMAND} --build ${WORK}/consumer)
  run(${WORK}/consumer/consumer)
  message("${output}")

elseif(STEP STREQUAL "pkgconfig")
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  run(pkg-config --cflags --libs coterie)
  string(STRIP "${output}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${COMPILER} -std=c++20 -O1 ${SOURCE}/main.cpp -o ${WORK}/consumer-by-pkg-config ${flags} -Wl,-rpath,${prefix}/${LIBDIR})
  run(${WORK}/consumer-by-pkg-config)
  message("${output}")

else()
  message(FATAL_ERROR "STEP is install, cmake or pkgconfig, not '${STEP}'")
endif()
