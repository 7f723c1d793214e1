# Installs the shared and the static library, headers, CMake package, pkg-config file, tools and licence. Components:
# runtime (the shared library), dev and tools.
include(CMakePackageConfigHelpers)
set(lsp_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/libsparse)

# The shared library needs no other; the static library needs its dependencies. So each has its own export file, and a
# project that uses the shared library need not find these dependencies.
foreach(kind shared static)
  set(target libsparse)
  if(kind STREQUAL "static")
    set(target libsparse_static)
  endif()
  install(TARGETS ${target} EXPORT libsparse-${kind}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  install(EXPORT libsparse-${kind} NAMESPACE libsparse:: DESTINATION ${lsp_package_dir} COMPONENT dev)
endforeach()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# A prefix for the static library: its copy lives beside another in one process.
set(LSP_SYMBOL_PREFIX "" CACHE STRING "Put before every symbol of the static library; include libsparse/prefix.h first")
if(LSP_SYMBOL_PREFIX)
  set(lsp_prefix_header ${PROJECT_BINARY_DIR}/prefix.h)
  add_custom_command(TARGET libsparse_static POST_BUILD BYPRODUCTS ${lsp_prefix_header}
    COMMAND ${CMAKE_COMMAND} -DARCHIVE=$<TARGET_FILE:libsparse_static> -DPREFIX=${LSP_SYMBOL_PREFIX} -DNM=${CMAKE_NM}
            -DOBJCOPY=${CMAKE_OBJCOPY} -DHEADERS=${PROJECT_SOURCE_DIR}/include -DHEADER=${lsp_prefix_header}
            -P ${PROJECT_SOURCE_DIR}/cmake/prefix.cmake)
  install(FILES ${lsp_prefix_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/libsparse COMPONENT dev)
endif()

set(LSP_STATIC_DEPENDENCIES ZLIB Threads)
if(LSP_HAVE_CUDA)
  list(APPEND LSP_STATIC_DEPENDENCIES CUDAToolkit)
endif()
configure_package_config_file(cmake/libsparse-config.cmake.in libsparse-config.cmake
                              INSTALL_DESTINATION ${lsp_package_dir} PATH_VARS CMAKE_INSTALL_BINDIR
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(libsparse-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/libsparse-pairs.cmake ${PROJECT_BINARY_DIR}/libsparse-config.cmake ${PROJECT_BINARY_DIR}/libsparse-config-version.cmake
        DESTINATION ${lsp_package_dir} COMPONENT dev)

# pkg-config: the paths are relative to the file, so the tree may be moved.
file(RELATIVE_PATH lsp_include_from_lib ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(lsp_private_libs ${LSP_OPENMP_LINK} -lpthread -lm)
if(LSP_HAVE_CUDA)
  list(APPEND lsp_private_libs -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt)
endif()
list(JOIN lsp_private_libs " " lsp_private_libs)
configure_file(cmake/libsparse.pc.in libsparse.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/libsparse.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# The installed tools find the library by a path relative to their own.
file(RELATIVE_PATH lsp_lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(tool spgemm-cli cg-bench two-body suffix-array sparse-bench)
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/${lsp_lib_from_bin}")
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endif()
endforeach()
foreach(paper cli/spgemm-cli cli/cg-bench cli/two-body cli/suffix-array bench/sparse-bench)
  get_filename_component(tool ${paper} NAME)
  if(TARGET ${tool})
    install(FILES ${paper}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
    install(FILES ${paper}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${tool}
            COMPONENT tools)
  endif()
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                                      -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
  include(cmake/package.cmake)
endif()
